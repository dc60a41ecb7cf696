"""Tables of an imaginary employer, each in one file, and questions that name one row by its key:
twenty tables to build with, ten others, with wordings of their own, to confirm."""

import io
import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

import docx
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

Cells = Sequence[str]
QUESTIONS = 10
"""Of each table."""


class KeyTable(NamedTuple):
    """A table with what stands above it, and how people ask for one of its rows."""

    name: str
    """File name; its ending is the format."""
    title: str
    intro: str
    header: Cells
    rows: Sequence[Cells]
    wordings: Sequence[str]
    """`{0}` is the first cell of the row that is asked for, `{key}` its key in small letters, `{n}`
    a number within its range."""
    numbers: Sequence[int] = ()
    """A number in the range of each row."""
    place: int = 0
    """Of the key among the cells."""

    def key(self, row: Cells) -> str:
        return row[self.place]


class RowQuestion(NamedTuple):
    text: str
    file: str
    row: Cells
    """The row that must be in the first hit."""


def tables(split: str) -> list[KeyTable]:
    """split: dev or test."""
    makers = DEV if split == "dev" else TEST
    return [make(random.Random(f"{split} {make.__name__}")) for make in makers]


def questions(table: KeyTable) -> Iterator[RowQuestion]:
    """Rows from all parts of the table, each wording in turn."""
    chance = random.Random(table.name)
    numbers = table.numbers or [0] * len(table.rows)
    share = len(table.rows) / QUESTIONS
    for place in range(QUESTIONS):
        at = min(len(table.rows) - 1, int(share * place + chance.random() * share))
        wording = table.wordings[place % len(table.wordings)]
        row = table.rows[at]
        text = wording.format(*row, key=table.key(row).lower(), n=numbers[at])
        yield RowQuestion(text=text, file=table.name, row=row)


# The tables to build with --------------------------------------------------------------------------

CITIES = {
    "Portugal": "Lisbon Porto Faro Braga Coimbra",
    "Spain": "Madrid Barcelona Valencia Seville Bilbao Malaga",
    "Italy": "Rome Milan Turin Naples Bologna Florence Venice",
    "France": "Paris Lyon Marseille Toulouse Nice Nantes Bordeaux Lille",
    "Germany": "Berlin Munich Hamburg Frankfurt Cologne Stuttgart Leipzig Dresden Bremen",
    "Poland": "Warsaw Krakow Gdansk Wroclaw Poznan",
    "Sweden": "Stockholm Gothenburg Malmo Uppsala",
    "Norway": "Oslo Bergen Trondheim Stavanger",
    "Finland": "Helsinki Tampere Turku Oulu",
    "Denmark": "Copenhagen Aarhus Odense Aalborg",
    "Ireland": "Dublin Cork Galway Limerick",
    "Belgium": "Brussels Antwerp Ghent Bruges",
    "Netherlands": "Amsterdam Rotterdam Utrecht Eindhoven",
    "Austria": "Vienna Graz Linz Salzburg Innsbruck",
    "Greece": "Athens Thessaloniki Patras Heraklion",
    "Hungary": "Budapest Debrecen Szeged Pecs",
    "Romania": "Bucharest Cluj Iasi Timisoara",
    "Japan": "Tokyo Osaka Kyoto Nagoya Fukuoka",
    "Canada": "Toronto Montreal Vancouver Calgary Ottawa",
    "Brazil": "Brasilia Salvador Recife Curitiba",
    "India": "Delhi Mumbai Bangalore Chennai Pune",
}


def hotel_caps(chance: random.Random) -> KeyTable:
    rows = []
    for country, cities in CITIES.items():
        for city in cities.split():
            cap = chance.randrange(95, 260)
            rows.append((city, country, f"EUR {cap}", f"EUR {chance.randrange(38, 75)}"))
    chance.shuffle(rows)
    return KeyTable(
        "hotel-caps.pdf",
        "Business travel: hotel caps by city",
        "The cap is for one night with breakfast. A dearer hotel needs approval beforehand.",
        ("City", "Country", "Hotel cap", "Daily allowance"),
        rows,
        (
            "hotel cap {key}",
            "How much can I spend on a hotel in {0}?",
            "what's the daily allowance for {0}",
            "max hotel price per night in {0}, {1}",
            "{key} hotel limit",
        ),
    )


def pay_grades(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(1, 97):
        low = 21_000 + 1_150 * number + chance.randrange(0, 40) * 10
        rows.append((f"L{number}", f"{low:,}", f"{low + 6_400:,}", f"{number % 9 + 1} months"))
    return KeyTable(
        "pay-grades.xlsx",
        "Pay grades",
        "Gross salary a year in euros, from April.",
        ("Grade", "Minimum", "Maximum", "Review after"),
        rows,
        (
            "what is the salary of grade {0}?",
            "salary range {key}",
            "how much does a grade {0} earn at most",
            "I was promoted to {0}. What do I earn now?",
            "min pay for level {0}?",
        ),
    )


def mileage_bands(chance: random.Random) -> KeyTable:
    vehicles = ("Small petrol car", "Large petrol car", "Diesel car", "Electric car", "Van")
    rows: list[Cells] = []
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        rate = f"0.{chance.randrange(21, 68)} EUR per km"
        rows.append((letter, f"{chance.choice(vehicles)}, class {len(rows) + 1}", rate))
    return KeyTable(
        "mileage.html",
        "Mileage rates for private cars",
        "Your band is on the registration form of your car.",
        ("Band", "Vehicle", "Rate"),
        rows,
        (
            "band {key} mileage",
            "What is the mileage rate for band {0}?",
            "how much per km do I get in band {0}",
            "my car is band {key}, what can I claim",
        ),
    )


def device_codes(chance: random.Random) -> KeyTable:
    kinds = ("Laptop", "Monitor", "Headset", "Docking station", "Phone", "Tablet", "Scanner")
    rows = []
    for number in range(1, 151):
        kind = chance.choice(kinds)
        model = f"{kind} {chance.choice('XTPRE')}{chance.randrange(100, 999)}"
        rows.append((f"S{number}", model, f"{chance.randrange(24, 61)} months"))
    return KeyTable(
        "device-codes.docx",
        "Device catalogue",
        "Order by the code. A device can be replaced after the months in the last column.",
        ("Code", "Device", "Replaced after"),
        rows,
        (
            "code {0}",
            "which device is {0}",
            "When can I replace device {0}?",
            "what does {key} stand for in the device catalogue",
            "device code {0}?",
        ),
    )


def rooms(chance: random.Random) -> KeyTable:
    rows = []
    for floor in range(1, 9):
        for door in range(1, 31):
            seats = chance.randrange(4, 40)
            extra = chance.choice(("whiteboard", "projector", "video system", "none"))
            rows.append((f"{floor}.{door:02}", f"{seats} seats", extra))
    return KeyTable(
        "rooms.xlsx",
        "Meeting rooms",
        "Rooms that anybody can book in the calendar.",
        ("Room", "Seats", "Equipment"),
        rows,
        (
            "how many seats in room {0}",
            "What equipment does meeting room {0} have?",
            "room {0}",
            "does {0} have a projector",
        ),
    )


def cost_centres(chance: random.Random) -> KeyTable:
    names = ("Sales", "Support", "Logistics", "Finance", "Legal", "People", "Research", "Quality")
    people = ("A. Novak", "B. Costa", "C. Lind", "D. Okafor", "E. Brandt", "F. Moreau", "G. Silva")
    rows = []
    for number in chance.sample(range(40_000, 49_999), 500):
        name = f"{chance.choice(names)} {chance.randrange(1, 80)}"
        rows.append((str(number), name, chance.choice(people)))
    rows.sort()
    return KeyTable(
        "cost-centres.xlsx",
        "Cost centres",
        "Whoever approves orders for a cost centre stands in the last column.",
        ("Cost centre", "Name", "Approver"),
        rows,
        (
            "who approves for cost centre {0}",
            "cost centre {0}",
            "Which department is {0}?",
            "approver of {0}?",
        ),
    )


def training_codes(chance: random.Random) -> KeyTable:
    topics = ("Fire safety", "First aid", "Data protection", "Forklift", "Ladder", "Food hygiene")
    rows = []
    for number in range(101, 281):
        prefix = chance.choice(("TR", "HS", "IT"))
        topic = f"{chance.choice(topics)} part {chance.randrange(1, 30)}"
        rows.append((f"{prefix}-{number}", topic, f"every {chance.randrange(6, 48)} months"))
    return KeyTable(
        "training.html",
        "Mandatory training",
        "Courses are booked by their code. They are repeated as the last column says.",
        ("Code", "Course", "Repeated"),
        rows,
        (
            "what is training {0}",
            "How often do I have to repeat {0}?",
            "{key} course",
            "renewal of course {0}",
        ),
    )


def child_allowance(chance: random.Random) -> KeyTable:
    rows = []
    amount = 0
    for number in range(1, 21):
        amount += chance.randrange(41, 97)
        rows.append((str(number), f"EUR {amount} a month", f"{number + 2} days"))
    return KeyTable(
        "family.docx",
        "Family allowance",
        "Paid with the salary for as long as child benefit is paid.",
        ("Children", "Allowance", "Extra care leave"),
        rows,
        (
            "family allowance with {0} children",
            "I have {0} children. How much family allowance do I get?",
            "how many days extra care leave for {0} kids",
            "allowance {0} children",
        ),
    )


def notice_by_service(chance: random.Random) -> KeyTable:
    ends = [0, 1, 2, 3, 5, 7, 8, 10, 12, 14, 15, 17, 20, 22, 25, 27, 30, 33, 35, 38, 40]
    rows: list[Cells] = []
    numbers = []
    for low, high in pairwise(ends):
        label = "Less than 1 year" if not low else f"{low}-{high} years"
        rows.append((label, f"{2 + len(rows)} weeks", f"{1 + len(rows) // 2} weeks"))
        numbers.append(chance.randrange(low, high) if high - low > 1 else low)
    rows.append(("More than 40 years", "30 weeks", "14 weeks"))
    numbers.append(42)
    numbers[0] = 0
    return KeyTable(
        "notice.pdf",
        "Notice periods by length of service",
        "A range includes its first year and ends before its last.",
        ("Service", "Notice by the company", "Notice by you"),
        rows[1:],
        (
            "notice period {0}",
            "what notice does the company give for {key} of service",
            "How long is my notice with {0}?",
            "notice by the company, service of {0}",
        ),
        numbers[1:],
    )


def grade_hotels(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(1, 91):
        travel = chance.choice(("Standard", "Flexible", "First"))
        rows.append((f"Grade {number}", f"up to {120 + 3 * number}", f"{travel} class"))
    return KeyTable(
        "travel-class.pdf",
        "Travel class and hotel by grade",
        "Amounts are in euros for a night.",
        ("Grade", "Hotel", "Train"),
        rows,
        (
            "{0} hotel",
            "Which train class may {key} use?",
            "hotel limit for {key}",
            "what can a {0} spend on a hotel night",
        ),
    )


def shift_codes(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(1, 66):
        start = chance.randrange(0, 24)
        rows.append((f"N{number}", f"{start:02}:30", f"{chance.randrange(5, 11)} h"))
    return KeyTable(
        "shifts.docx",
        "Shift codes on the rota",
        "The rota shows each shift by a code.",
        ("Code", "Begins", "Length"),
        rows,
        (
            "when does shift {0} start",
            "what is {key} on the rota",
            "shift code {0}",
            "How long is a {0} shift?",
            "I am down for {0} tomorrow, what time do I begin",
        ),
    )


def per_diems(chance: random.Random) -> KeyTable:
    rows = []
    more = [
        "Albania",
        "Algeria",
        "Argentina",
        "Armenia",
        "Australia",
        "Bahrain",
        "Bolivia",
        "Bulgaria",
        "Chile",
        "China",
        "Colombia",
        "Croatia",
        "Cyprus",
        "Czechia",
        "Ecuador",
        "Egypt",
        "Estonia",
        "Georgia",
        "Ghana",
        "Guatemala",
        "Iceland",
        "Indonesia",
        "Israel",
        "Jamaica",
        "Jordan",
        "Kenya",
        "Kuwait",
        "Latvia",
        "Lithuania",
        "Luxembourg",
        "Malaysia",
        "Malta",
        "Mexico",
        "Moldova",
        "Morocco",
        "Nepal",
        "Nigeria",
        "Oman",
        "Pakistan",
        "Panama",
        "Paraguay",
        "Peru",
        "Philippines",
        "Qatar",
        "Rwanda",
        "Senegal",
        "Serbia",
        "Singapore",
        "Slovakia",
        "Slovenia",
        "Switzerland",
        "Taiwan",
        "Tanzania",
        "Thailand",
        "Tunisia",
        "Turkey",
        "Uganda",
        "Ukraine",
        "Uruguay",
        "Vietnam",
        "Zambia",
    ]
    for country in sorted([*CITIES, *more]):
        full = chance.randrange(24, 70)
        rows.append((country, f"{full} EUR", f"{full * 2 // 3} EUR"))
    return KeyTable(
        "per-diem.html",
        "Per diem for trips abroad",
        "For meals, by the country in which you are at midnight.",
        ("Country", "Full day", "Day of departure"),
        rows,
        (
            "per diem {key}",
            "how much money for food do I get on a trip to {0}",
            "What is the per diem for the day of departure to {0}?",
            "meals allowance abroad {0}",
        ),
    )


def parking(chance: random.Random) -> KeyTable:
    rows = []
    for letter in "ABCDEF":
        for number in range(1, 41):
            who = chance.choice(("Visitors", "Pool cars", "Staff", "Carers", "Deliveries"))
            charger = chance.choice(("11 kW", "22 kW", "no charger"))
            rows.append((f"{letter}{number}", who, charger))
    return KeyTable(
        "parking.xlsx",
        "Parking spaces",
        "Who may use which space in the garage.",
        ("Space", "For", "Charger"),
        rows,
        (
            "parking space {0}",
            "who is allowed to park on {0}",
            "Is there a charger at {0}?",
            "can I park in {key}",
        ),
    )


def bonus_by_salary(chance: random.Random) -> KeyTable:
    rows, numbers = [], []
    for low in range(30_000, 130_000, 2_500):
        bonus = f"{chance.randrange(15, 99) / 10} %"
        rows.append((f"{low:,} - {low + 2_499:,}", bonus, f"{chance.randrange(2, 9)} shares"))
        numbers.append(low + chance.randrange(1, 24) * 100)
    return KeyTable(
        "bonus.xlsx",
        "Bonus by annual salary",
        "Paid in March for the year before.",
        ("Annual salary (EUR)", "Bonus", "Shares"),
        rows,
        (
            "what bonus do I get with a salary of {n:,}",
            "bonus for {n} euros a year",
            "my salary is {n:,} EUR. What is my bonus?",
            "bonus salary band {0}",
        ),
        numbers,
    )


def extensions(chance: random.Random) -> KeyTable:
    teams = ("Payroll", "Helpdesk", "Reception", "Facilities", "Canteen", "Security", "Archive")
    rows = []
    for number in sorted(chance.sample(range(2000, 7999), 320)):
        rows.append((str(number), f"{chance.choice(teams)} {chance.randrange(1, 60)}", "weekdays"))
    return KeyTable(
        "extensions.html",
        "Internal telephone numbers",
        "Dial 0 for a line to the outside.",
        ("Extension", "Team", "Answered"),
        rows,
        (
            "who is on extension {0}",
            "whose number is {0}",
            "extension {0}",
            "I was called by {0}, which team is that?",
        ),
    )


def job_codes(chance: random.Random) -> KeyTable:
    roles = ("Analyst", "Engineer", "Technician", "Planner", "Buyer", "Nurse", "Driver", "Cook")
    rows = []
    for number in range(10, 310):
        level = chance.choice(("Junior", "Senior", "Lead", "Principal"))
        code = f"JC{number:04}"
        rows.append((code, f"{level} {chance.choice(roles)}", f"{chance.randrange(35, 41)} h"))
    return KeyTable(
        "job-codes.pdf",
        "Job codes",
        "The job code is on your contract. Weekly hours are those of full time.",
        ("Job code", "Job", "Weekly hours"),
        rows,
        (
            "weekly hours job code {0}",
            "what job is {0}",
            "{key}",
            "My contract says {0}. How many hours is that?",
        ),
    )


def work_shoes(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(34, 56):
        stock = chance.choice(("in stock", "two weeks", "six weeks"))
        rows.append((str(number), f"{chance.randrange(215, 350)} mm", stock))
    return KeyTable(
        "shoes.docx",
        "Safety shoes",
        "One pair a year is free.",
        ("Size", "Length of foot", "Delivery"),
        rows,
        (
            "safety shoes size {0}",
            "how long does it take to get size {0} safety shoes",
            "Are shoes in size {0} in stock?",
        ),
    )


def relocation(chance: random.Random) -> KeyTable:
    rows, numbers = [], []
    for low in range(50, 2050, 50):
        rows.append((f"{low}-{low + 49} km", f"EUR {900 + 4 * low}", f"{1 + low // 200} days"))
        numbers.append(low + chance.randrange(1, 48))
    return KeyTable(
        "relocation.pdf",
        "Help with moving house",
        "By the distance between the old and the new home.",
        ("Distance", "Allowance", "Days off"),
        rows,
        (
            "moving {n} km, what do I get",
            "How many days off for a move of {n} km?",
            "relocation allowance {0}",
            "relocation allowance for {n} kilometres",
        ),
        numbers,
    )


def visas(chance: random.Random) -> KeyTable:
    rows = []
    for country in CITIES:
        for purpose in ("meeting", "installation", "posting"):
            days = f"{chance.randrange(5, 90)} days"
            rows.append((country, purpose, chance.choice(("Visa", "No visa", "e-Visa")), days))
    return KeyTable(
        "visas.pdf",
        "Visas for business trips",
        "Ask the travel desk for the form.",
        ("Country", "Purpose", "Needed", "Apply before"),
        rows,
        (
            "visa for a {1} in {0}",
            "do I need a visa for {0} if it is an {1}",
            "{key} visa {1}",
        ),
    )


def pension_age(chance: random.Random) -> KeyTable:
    rows = []
    for year in range(1955, 2006):
        months = chance.randrange(0, 12)
        rows.append(
            (str(year), f"{65 + (year - 1955) // 12} years {months} months", f"{year % 7} %")
        )
    return KeyTable(
        "pension.docx",
        "Company pension: earliest age by year of birth",
        "The deduction is for each year before the age in the table.",
        ("Year of birth", "Earliest age", "Deduction"),
        rows,
        (
            "I was born in {0}, when can I draw my company pension",
            "earliest pension age {0}",
            "pension deduction for people born in {0}",
        ),
    )


# The tables to confirm with ------------------------------------------------------------------------


def offices(chance: random.Random) -> KeyTable:
    rows = []
    streets = ("Harbour", "Station", "Market", "Mill", "Church", "Park", "Bridge")
    for country, cities in CITIES.items():
        for place, city in enumerate(cities.split()):
            address = f"{chance.choice(streets)} Street {chance.randrange(1, 180)}"
            rows.append(("" if place else country, city, address, f"ext. {chance.randrange(100)}"))
    return KeyTable(
        "offices.docx",
        "Offices and their reception",
        "The reception keeps visitors' badges and parcels.",
        ("Country", "City", "Address", "Reception"),
        rows,
        (
            "address of our {1} office",
            "where is the office in {key}",
            "Which extension has the reception in {1}?",
            "{key} office reception",
        ),
        place=1,
    )


def car_allowance(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(1, 61):
        rows.append((f"G{number}", f"EUR {140 + 7 * number}", f"{chance.randrange(90, 190)} g CO2"))
    return KeyTable(
        "car.xlsx",
        "Car allowance",
        "In place of a company car, paid each month.",
        ("Grade", "Monthly allowance", "Emission limit"),
        rows,
        (
            "car allowance {0}",
            "How much is the car allowance for {0}?",
            "I'm a {key}, what car allowance do I get",
            "emission limit for grade {0} cars",
            "car allowance for grade {key}?",
        ),
    )


def notice_by_grade(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(1, 61):
        rows.append((f"G{number}", f"{4 + number // 4} weeks", f"{chance.randrange(2, 9)} weeks"))
    return KeyTable(
        "garden-leave.html",
        "Notice and garden leave",
        "Counted from the end of the month.",
        ("Grade", "Notice", "Garden leave at most"),
        rows,
        (
            "notice {0}",
            "how long is garden leave for grade {key}",
            "What notice do I have to give as a {0}?",
        ),
    )


def hazard_codes(chance: random.Random) -> KeyTable:
    effects = ("Toxic if swallowed", "Harmful to skin", "Irritates eyes", "Flammable", "Explosive")
    rows = []
    for number in sorted(chance.sample(range(200, 420), 140)):
        effect = f"{chance.choice(effects)}, category {chance.randrange(1, 6)}"
        rows.append((f"H{number}", effect, f"cabinet {chance.randrange(1, 30)}"))
    return KeyTable(
        "hazards.html",
        "Hazard statements in the laboratory",
        "The label of each bottle has one or more of these codes.",
        ("Statement", "Meaning", "Storage"),
        rows,
        (
            "what does {0} on a bottle mean",
            "{key}",
            "Where do I store chemicals labelled {0}?",
            "hazard {key} storage",
        ),
    )


def overtime(chance: random.Random) -> KeyTable:
    rows, numbers = [], []
    for low in range(0, 120, 5):
        label = "up to 5 hours" if not low else f"{low + 1} to {low + 5} hours"
        rows.append((label, f"{chance.randrange(101, 180)} %", f"{1 + low // 8} h off"))
        numbers.append(low + chance.randrange(2, 5))
    return KeyTable(
        "overtime.pdf",
        "Overtime in a month",
        "The rate is paid for all hours of the month above contract.",
        ("Overtime", "Rate", "Or time off"),
        rows,
        (
            "overtime rate for {n} hours",
            "I worked {n} hours overtime this month, what rate is paid?",
            "How much time off do I get for {n} h of overtime?",
            "overtime {0}",
        ),
        numbers,
    )


def sick_pay(chance: random.Random) -> KeyTable:
    rows, numbers = [("under 1 year", "4 weeks", "none")], [0]
    for low in range(1, 30):
        unit = "year" if low == 1 else "years"
        rows.append(
            (f"{low} {unit} or more", f"{4 + low} weeks", f"{chance.randrange(2, 40)} weeks")
        )
        numbers.append(low)
    return KeyTable(
        "sick-pay.xlsx",
        "Sick pay by completed service",
        "Full pay comes first, half pay after it.",
        ("Completed service", "Full pay", "Half pay"),
        rows,
        (
            "sick pay after {n} years",
            "I have been here for {n} years. How long do I get full sick pay?",
            "half pay when sick, {n} years of service",
        ),
        numbers,
    )


def pay_scale(chance: random.Random) -> KeyTable:
    rows = []
    pay = 2_300
    for number in range(1, 16):
        for letter in "abc":
            pay += chance.randrange(20, 90)
            rows.append((f"E{number}{letter}", f"{pay:,}", f"{pay + 210:,}", f"{pay + 430:,}"))
    return KeyTable(
        "pay-scale.pdf",
        "Pay scale of the collective agreement",
        "Monthly gross pay in euros for full time.",
        ("Group", "Step 1", "Step 2", "Step 3"),
        rows,
        (
            "monthly pay group {0}",
            "what do i earn in {key}",
            "How much is {0} step 3?",
            "pay scale {0}",
        ),
    )


def depots(chance: random.Random) -> KeyTable:
    heads = ("Ines Duarte", "Tom Berg", "Lena Krol", "Omar Haddad", "Ana Ruiz", "Per Dahl")
    rows = []
    for number in range(1, 401):
        opens = f"{chance.randrange(5, 9)}:00 to {chance.randrange(15, 22)}:00"
        rows.append((f"Depot {number}", chance.choice(heads), opens))
    return KeyTable(
        "depots.xlsx",
        "Depots",
        "Vans are handed out by the head of a depot.",
        ("Depot", "Head", "Open"),
        rows,
        (
            "who runs {0}",
            "opening hours {key}",
            "When is {0} open?",
            "head of {key}",
        ),
    )


def insurance(chance: random.Random) -> KeyTable:
    codes = [
        "PT",
        "ES",
        "IT",
        "FR",
        "DE",
        "PL",
        "SE",
        "NO",
        "FI",
        "DK",
        "IE",
        "BE",
        "NL",
        "AT",
        "GR",
        "HU",
        "RO",
        "JP",
        "CA",
        "BR",
        "IN",
    ]
    rows = []
    for country, code in zip(CITIES, codes, strict=True):
        line = f"+800 {chance.randrange(10_000, 99_999)}"
        rows.append((f"{country} ({code})", f"Policy {chance.randrange(1000, 9999)}", line))
    return KeyTable(
        "insurance.docx",
        "Travel insurance by country",
        "Call the line before you go to a doctor, unless it is an emergency.",
        ("Country", "Policy", "Hotline"),
        rows,
        (
            "travel insurance {0}",
            "Which number do I call when I fall ill in {0}?",
            "insurance hotline {key}",
        ),
    )


def lockers(chance: random.Random) -> KeyTable:
    rows = []
    for number in range(1, 151):
        for side in "LR":
            key = f"key {chance.randrange(1000, 9999)}"
            rows.append((f"{number}-{side}", key, chance.choice(("small", "tall", "double"))))
    return KeyTable(
        "lockers.pdf",
        "Lockers",
        "Lockers are lent for a year.",
        ("Locker", "Key", "Kind"),
        rows,
        (
            "key for locker {0}",
            "what kind of locker is {key}",
            "locker {0}",
        ),
    )


BESIDE = {
    "travel-tips.md": """# Travel tips

Book early. Colleagues in Lisbon, Rotterdam and Warsaw keep a list of hotels that they like, and the
Munich office has two guest rooms. Grade 7 and grade 29 travel most. A hotel in Stockholm or Athens
is dearer in June. With 3 children you may bring a partner for EUR 140 a night.
""",
    "promotions.md": """# Promotions

Promotions from L6 to L7 and from L60 to L61 need the consent of the works council. Since March, L84
is open to specialists. G17 and G23 are frozen. People with 6 or 12 years of service are looked at
first. A raise of 10 to 15 % is usual.

## Who decides

| Grade | Decides |
| --- | --- |
| L1 to L40 | Head of department |
| L41 to L80 | Director |
| L81 to L96 | Board |
""",
    "city-allowance.md": """# Rent allowance by city

| City | Rent allowance |
| --- | --- |
| Lisbon | EUR 210 |
| Porto | EUR 150 |
| Warsaw | EUR 140 |
| Rotterdam | EUR 230 |
| Munich | EUR 340 |
| Paris | EUR 390 |
| Oslo | EUR 370 |
| Tokyo | EUR 410 |
| Athens | EUR 130 |
""",
}
"""Pages that name the same keys, and are not what is asked for."""
DEV: Sequence[Callable[[random.Random], KeyTable]] = (
    hotel_caps,
    pay_grades,
    mileage_bands,
    device_codes,
    rooms,
    cost_centres,
    training_codes,
    child_allowance,
    notice_by_service,
    grade_hotels,
    shift_codes,
    per_diems,
    parking,
    bonus_by_salary,
    extensions,
    job_codes,
    work_shoes,
    relocation,
    visas,
    pension_age,
)
TEST: Sequence[Callable[[random.Random], KeyTable]] = (
    offices,
    car_allowance,
    notice_by_grade,
    hazard_codes,
    overtime,
    sick_pay,
    pay_scale,
    depots,
    insurance,
    lockers,
)


# Files ---------------------------------------------------------------------------------------------


def file_of(table: KeyTable) -> bytes:
    return WRITERS[table.name.rpartition(".")[2]](table)


def _pdf(table: KeyTable) -> bytes:
    styles = getSampleStyleSheet()
    grid = Table([list(row) for row in (table.header, *table.rows)], repeatRows=1)
    grid.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.grey)]))
    body = [
        Paragraph(table.title, styles["Title"]),
        Paragraph(table.intro, styles["BodyText"]),
        grid,
    ]
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4, title=table.title).build(body)
    return out.getvalue()


def _docx(table: KeyTable) -> bytes:
    document = docx.Document()
    document.add_heading(table.title, level=1)
    document.add_paragraph(table.intro)
    grid = document.add_table(rows=0, cols=len(table.header))
    for row in (table.header, *table.rows):
        for cell, text in zip(grid.add_row().cells, row, strict=True):
            cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _html(table: KeyTable) -> bytes:
    lines = [f"<html><head><title>{escape(table.title)}</title></head><body>"]
    lines.append(f"<h1>{escape(table.title)}</h1><p>{escape(table.intro)}</p><table>")
    for tag, rows in (("th", [table.header]), ("td", table.rows)):
        for row in rows:
            cells = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            lines.append(f"<tr>{cells}</tr>")
    lines.append("</table></body></html>")
    return "\n".join(lines).encode()


def _xlsx(table: KeyTable) -> bytes:
    lines = []
    for number, row in enumerate((table.header, *table.rows), start=1):
        cells = []
        for column, text in zip("ABCDEFGH", row, strict=False):
            value = f'<is><t xml:space="preserve">{escape(text)}</t></is>'
            cells.append(f'<c r="{column}{number}" t="inlineStr">{value}</c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    parts = dict(WORKBOOK)
    parts["xl/worksheets/sheet1.xml"] = f"{SHEET}{''.join(lines)}</sheetData></worksheet>"
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].format(name=escape(table.title[:31]))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(name, text)
    return out.getvalue()


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEET = f'<?xml version="1.0"?><worksheet xmlns="{MAIN}"><sheetData>'
WORKBOOK = {
    "[Content_Types].xml": (
        f'<?xml version="1.0"?><Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>"
    ),
    "xl/workbook.xml": (
        f'<?xml version="1.0"?><workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="{name}" sheetId="1" r:id="r1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>"
    ),
}
WRITERS: dict[str, Callable[[KeyTable], bytes]] = {
    "pdf": _pdf,
    "docx": _docx,
    "html": _html,
    "xlsx": _xlsx,
}
