"""Signed reports: keys, the one certifying signature over a PDF, and the check of it by somebody who trusts nothing.

``keys`` holds private keys, ``sign`` signs, ``check`` verifies; ``cms`` says what a signature may consist of, for both.
Nothing here is imported before it is used.
"""
