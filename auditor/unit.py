"""Units: which names and signs mean which, and how many of the base unit of their dimension each is.

Invariant: a factor is an exact fraction; temperatures, which have an offset, are the one exception and are known by
their sign.
"""

from __future__ import annotations

from fractions import Fraction

from auditor.normalize import fold

__all__ = ["PHRASES", "SIGNS", "UNITS", "named_unit", "to_base", "unit_of"]

_TABLE: tuple[tuple[str, str, str], ...] = (
    # dimension, factor to the base unit, surface forms
    ("length", "1", "m metre metres meter meters"),
    ("length", "1000", "km kms kilometre kilometres kilometer kilometers"),
    ("length", "1/100", "cm centimetre centimetres centimeter centimeters"),
    ("length", "1/1000", "mm millimetre millimetres millimeter millimeters"),
    ("length", "1/1000000000", "nm nanometre nanometres nanometer nanometers"),
    ("length", "0.3048", "ft foot feet"),
    ("length", "0.0254", "inch inches"),
    ("length", "0.9144", "yd yard yards"),
    ("length", "1609.344", "mi mile miles"),
    ("length", "1852", "nmi"),
    ("mass", "1", "kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos"),
    ("mass", "1/1000", "g gram grams gramme grammes"),
    ("mass", "1/1000000", "mg milligram milligrams"),
    ("mass", "1000", "t tonne tonnes"),
    ("mass", "0.45359237", "lb lbs pound pounds"),
    ("mass", "0.028349523125", "oz ounce ounces"),
    ("time", "1", "sec secs second seconds"),
    ("time", "1/1000", "ms millisecond milliseconds"),
    ("time", "60", "min mins minute minutes"),
    ("time", "3600", "h hr hrs hour hours"),
    ("time", "86400", "day days"),
    ("time", "604800", "week weeks"),
    ("month", "1", "month months"),
    ("month", "12", "yr yrs year years"),
    ("month", "120", "decade decades"),
    ("month", "1200", "century centuries"),
    ("data", "1", "byte bytes"),
    ("data", "1000", "kb kilobyte kilobytes"),
    ("data", "1000000", "mb megabyte megabytes"),
    ("data", "1000000000", "gb gigabyte gigabytes"),
    ("data", "1000000000000", "tb terabyte terabytes"),
    ("data", "1024", "kib kibibyte kibibytes"),
    ("data", "1048576", "mib mebibyte mebibytes"),
    ("data", "1073741824", "gib gibibyte gibibytes"),
    ("frequency", "1", "hz hertz"),
    ("frequency", "1000", "khz kilohertz"),
    ("frequency", "1000000", "mhz megahertz"),
    ("frequency", "1000000000", "ghz gigahertz"),
    ("power", "1", "w watt watts"),
    ("power", "1000", "kw kilowatt kilowatts"),
    ("power", "1000000", "mw megawatt megawatts"),
    ("voltage", "1", "v volt volts"),
    ("energy", "1", "j joule joules"),
    ("energy", "1000", "kj kilojoule kilojoules"),
    ("pressure", "1", "pa pascal pascals"),
    ("pressure", "100000", "bar bars"),
    ("speed", "1", "m/s"),
    ("speed", "5/18", "km/h kph kmh"),
    ("speed", "0.44704", "mph"),
    ("speed", "463/900", "knot knots kn"),
    ("area", "1", "m^2 sqm"),
    ("area", "1000000", "km^2"),
    ("area", "10000", "ha hectare hectares"),
    ("area", "4046.8564224", "acre acres"),
    ("volume", "1", "l litre litres liter liters"),
    ("volume", "1/1000", "ml millilitre millilitres milliliter milliliters"),
    ("share", "1", "% percent pct"),
    ("dollar", "1", "$ usd dollar dollars"),
    ("euro", "1", "€ eur euro euros"),
    ("sterling", "1", "£ gbp"),
    ("rupee", "1", "₹ inr rs rupee rupees"),
    ("yen", "1", "¥ jpy yen"),
)
UNITS = {form: (dimension, Fraction(factor)) for dimension, factor, forms in _TABLE for form in forms.split()}
PHRASES = {
    "degrees celsius": "°c", "degree celsius": "°c", "degrees fahrenheit": "°f", "degree fahrenheit": "°f",
    "degrees c": "°c", "degrees f": "°f", "° c": "°c", "° f": "°f", "per cent": "%", "nautical miles": "nmi",
    "square meters": "m^2", "square metres": "m^2", "square kilometers": "km^2", "square kilometres": "km^2",
    "kilometers per hour": "km/h", "kilometres per hour": "km/h", "miles per hour": "mph", "us dollars": "$",
    "meters per second": "m/s", "metres per second": "m/s",
}  # fmt: skip

SIGNS = frozenset({"%", "€", "£", "₹", "¥", "$", "°c", "°f", "℃", "km/h", "m/s", "m^2", "km^2"})


def named_unit(unit: str) -> tuple[str, Fraction]:
    """Dimension and factor; temperatures have an offset, which ``to_base`` knows."""
    if unit in ("°c", "°f"):
        return f"temperature{unit}", Fraction(1)
    return UNITS[unit]


def to_base(value: Fraction, dimension: str, factor: Fraction) -> Fraction:
    """``value`` in the base unit of its dimension."""
    if dimension == "temperature°f":
        return (value - 32) * Fraction(5, 9)
    return value * factor


def unit_of(word: str) -> tuple[str, Fraction] | None:
    """Dimension and factor of a unit's name; None for a word that is none."""
    return UNITS.get(fold(word))
