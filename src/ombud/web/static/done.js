// Hands the code to the frame that opened this window, if it is ours; the browser checks its origin.
if (window.opener) {
  window.opener.postMessage({ code: document.querySelector("main").dataset.code }, location.origin);
  window.close();
}
