"""A broker's source tables: four that grow by the day, two that change now and then, four still."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.matrix.tables import DAYS, Table, chance, chosen, money

_SECURITIES, _COMPANIES, _BROKERS, _INDUSTRIES = 5000, 1000, 200, 50


def _day(share: float) -> str:
    return f"date_add(DATE'2024-01-01', CAST(id * {DAYS} / ({{rows}} * {share}) AS INT))"


def _part(share: float) -> Callable[[int], int]:
    return lambda rows: int(rows * share)


def _accounts(rows: int) -> int:
    return max(rows // 50, 50)


WAREHOUSE = (
    Table(
        "trade",
        {
            "id": "id",
            "account_id": chance(1, "{rows} DIV 50"),
            "security_id": chance(2, _SECURITIES),
            "day": _day(0.5),
            "kind": chosen(3, "buy", "sell", "limit buy", "limit sell"),
            "status": chosen(4, "done", "done", "done", "pending", "void"),
            "quantity": f"CAST(1 + {chance(5, 500)} AS INT)",
            "price": money(6, 300),
            "fee": money(7, 20),
        },
        _part(0.5),
        {"status": "'done'", "fee": "fee + 1"},
    ),
    Table(
        "cash",
        {
            "id": "id",
            "account_id": chance(11, "{rows} DIV 50"),
            "day": _day(0.25),
            "kind": chosen(12, "deposit", "withdrawal", "interest", "tax"),
            "amount": money(13, 5000),
        },
        _part(0.25),
        {"amount": "amount + 1"},
    ),
    Table(
        "holding",
        {
            "id": "id",
            "account_id": chance(21, "{rows} DIV 50"),
            "security_id": chance(22, _SECURITIES),
            "day": _day(0.15),
            "quantity": f"CAST({chance(23, 1000)} AS INT)",
        },
        _part(0.15),
        {"quantity": "quantity + 1"},
    ),
    Table(
        "watch",
        {
            "id": "id",
            "customer_id": chance(31, "{rows} DIV 100"),
            "security_id": chance(32, _SECURITIES),
            "day": _day(0.1),
            "action": chosen(33, "on", "on", "off"),
        },
        _part(0.1),
        {"action": "'off'"},
    ),
    Table(
        "customer",
        {
            "id": "id",
            "name": "concat('customer ', id)",
            "tier": f"CAST(1 + {chance(41, 3)} AS INT)",
            "country": f"concat('country ', {chance(42, 30)})",
            "income": money(43, 200_000),
        },
        lambda rows: max(rows // 100, 50),
        {"tier": "tier % 3 + 1"},
        pace=0.1,
    ),
    Table(
        "account",
        {
            "id": "id",
            "customer_id": chance(51, "{rows} DIV 100"),
            "broker_id": chance(52, _BROKERS),
            "tax": chosen(53, "none", "half", "full"),
        },
        _accounts,
        {"tax": "'none'"},
        pace=0.1,
    ),
    Table(
        "security",
        {
            "id": "id",
            "symbol": "concat('S', id)",
            "company_id": chance(61, _COMPANIES),
            "exchange": chosen(62, "NORTH", "SOUTH", "EAST", "WEST"),
        },
        lambda _rows: _SECURITIES,
    ),
    Table(
        "company",
        {
            "id": "id",
            "name": "concat('company ', id)",
            "industry_id": chance(71, _INDUSTRIES),
            "rating": chosen(72, "A", "B", "C"),
        },
        lambda _rows: _COMPANIES,
    ),
    Table(
        "broker",
        {"id": "id", "name": "concat('broker ', id)", "branch": f"concat('b', {chance(81, 20)})"},
        lambda _rows: _BROKERS,
    ),
    Table(
        "industry",
        {"id": "id", "name": "concat('industry ', id)", "sector": chosen(91, "a", "b", "c", "d")},
        lambda _rows: _INDUSTRIES,
    ),
)
