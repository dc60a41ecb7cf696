// The number of a citation leads to its source below the answer.
for (const cite of document.querySelectorAll(".cite")) {
  cite.addEventListener("click", () => cite.closest("article").querySelector(`[data-number="${cite.dataset.n}"]`).focus());
}
