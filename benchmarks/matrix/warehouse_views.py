"""A broker's warehouse of 49 views, of TPC-DI's kind: staging, dimensions, facts, sums, reports."""

from __future__ import annotations

_STAGING = {
    "stg_trade": "SELECT id, account_id, security_id, day, kind, status, quantity, fee, "
    "CAST(quantity * price AS DECIMAL(18,2)) AS worth FROM trade WHERE status <> 'void'",
    "stg_cash": "SELECT id, account_id, day, kind, "
    "CASE WHEN kind IN ('withdrawal', 'tax') THEN -amount ELSE amount END AS amount FROM cash",
    "stg_holding": "SELECT id, account_id, security_id, day, quantity FROM holding "
    "WHERE quantity > 0",
    "stg_watch": "SELECT id, customer_id, security_id, day, action FROM watch",
    "stg_customer": "SELECT id AS customer_id, upper(name) AS name, tier, country, income "
    "FROM customer",
    "stg_account": "SELECT id AS account_id, customer_id, broker_id, tax FROM account",
    "stg_security": "SELECT id AS security_id, symbol, company_id, exchange FROM security",
    "stg_company": "SELECT id AS company_id, name AS company, industry_id, rating FROM company",
    "stg_broker": "SELECT id AS broker_id, name AS broker, branch FROM broker",
    "stg_industry": "SELECT id AS industry_id, name AS industry, sector FROM industry",
}

_DIMENSIONS = {
    "dim_customer": "SELECT customer_id, name, tier, country, "
    "CASE WHEN income > 100000 THEN 'high' WHEN income > 40000 THEN 'middle' ELSE 'low' END "
    "AS bracket FROM stg_customer",
    "dim_broker": "SELECT broker_id, broker, branch FROM stg_broker",
    "dim_account": "SELECT a.account_id, a.customer_id, a.broker_id, a.tax, c.tier, c.country, "
    "c.bracket FROM stg_account a JOIN dim_customer c ON a.customer_id = c.customer_id",
    "dim_company": "SELECT c.company_id, c.company, c.rating, i.industry, i.sector "
    "FROM stg_company c JOIN stg_industry i ON c.industry_id = i.industry_id",
    "dim_security": "SELECT s.security_id, s.symbol, s.exchange, c.company, c.rating, c.industry, "
    "c.sector FROM stg_security s JOIN dim_company c ON s.company_id = c.company_id",
    "dim_day": "SELECT DISTINCT day, date_trunc('MONTH', day) AS month FROM stg_trade",
    "dim_market": "SELECT DISTINCT country, tier FROM dim_customer",
}

_FACTS = {
    "fact_trade": "SELECT t.id, t.day, t.kind, t.quantity, t.worth, t.fee, a.account_id, "
    "a.customer_id, a.broker_id, a.country, a.tier, s.security_id, s.exchange, s.industry "
    "FROM stg_trade t JOIN dim_account a ON t.account_id = a.account_id "
    "JOIN dim_security s ON t.security_id = s.security_id WHERE t.status = 'done'",
    "fact_pending": "SELECT t.id, t.day, t.worth, a.broker_id, a.customer_id FROM stg_trade t "
    "JOIN dim_account a ON t.account_id = a.account_id WHERE t.status = 'pending'",
    "fact_large": "SELECT id, day, customer_id, broker_id, security_id, worth FROM fact_trade "
    "WHERE worth > 140000",
    "fact_cash": "SELECT c.id, c.day, c.kind, c.amount, a.account_id, a.customer_id, a.country "
    "FROM stg_cash c JOIN dim_account a ON c.account_id = a.account_id",
    "fact_holding": "SELECT h.id, h.day, h.quantity, h.account_id, s.security_id, s.sector "
    "FROM stg_holding h JOIN dim_security s ON h.security_id = s.security_id",
    "fact_watch": "SELECT w.id, w.day, w.customer_id, w.action, s.security_id, s.exchange "
    "FROM stg_watch w LEFT JOIN dim_security s ON w.security_id = s.security_id",
    "fact_open_watch": "SELECT w.customer_id, w.security_id, count(*) AS n FROM fact_watch w "
    "WHERE w.action = 'on' GROUP BY w.customer_id, w.security_id",
    "fact_first_trade": "SELECT customer_id, id, day, worth FROM (SELECT customer_id, id, day, "
    "worth, row_number() OVER (PARTITION BY customer_id ORDER BY id) AS nth FROM fact_trade) "
    "WHERE nth = 1",
}


def _sums(keys: str, table: str, of: str = "worth") -> str:
    return f"SELECT {keys}, sum({of}) AS total, count(*) AS n FROM {table} GROUP BY {keys}"


_SUMS = {
    "trades_by_day": _sums("day", "fact_trade"),
    "trades_by_security": _sums("security_id", "fact_trade"),
    "trades_by_broker": _sums("broker_id", "fact_trade"),
    "trades_by_customer": _sums("customer_id, country, tier", "fact_trade"),
    "trades_by_industry": _sums("industry, exchange", "fact_trade"),
    "trades_by_month": "SELECT t.country, d.month, sum(t.worth) AS total, count(*) AS n "
    "FROM fact_trade t JOIN dim_day d ON t.day = d.day GROUP BY t.country, d.month",
    "pending_by_broker": _sums("broker_id", "fact_pending"),
    "fees_by_broker": "SELECT t.broker_id, b.branch, sum(t.fee) AS fees, max(t.fee) AS highest "
    "FROM fact_trade t JOIN dim_broker b ON t.broker_id = b.broker_id "
    "GROUP BY t.broker_id, b.branch",
    "cash_by_account": _sums("account_id", "fact_cash", "amount"),
    "cash_by_day": _sums("day, kind", "fact_cash", "amount"),
    "cash_by_country": _sums("country, kind", "fact_cash", "amount"),
    "holdings_by_security": _sums("security_id, sector", "fact_holding", "quantity"),
    "holdings_by_account": _sums("account_id", "fact_holding", "quantity"),
    "watches_by_security": _sums("security_id", "fact_open_watch", "n"),
}

_REPORTS = {
    "top_brokers": "SELECT broker_id, total FROM trades_by_broker "
    "ORDER BY total DESC, broker_id LIMIT 20",
    "top_securities": "SELECT security_id, total FROM trades_by_security "
    "ORDER BY total DESC, security_id LIMIT 50",
    "balances": "SELECT a.account_id, a.customer_id, c.total AS cash, h.total AS pieces "
    "FROM dim_account a LEFT JOIN cash_by_account c ON a.account_id = c.account_id "
    "LEFT JOIN holdings_by_account h ON a.account_id = h.account_id",
    "idle_customers": "SELECT c.customer_id, c.name, c.country FROM dim_customer c WHERE NOT "
    "EXISTS (SELECT 1 FROM trades_by_customer t WHERE t.customer_id = c.customer_id)",
    "branch_ranks": "SELECT branch, broker_id, fees, rank() OVER "
    "(PARTITION BY branch ORDER BY fees DESC, broker_id) AS place FROM fees_by_broker",
    "month_growth": "SELECT country, month, total, "
    "lag(total) OVER (PARTITION BY country ORDER BY month) AS before FROM trades_by_month",
    "tiers": "SELECT m.tier, sum(t.total) AS total, count(*) AS customers FROM trades_by_customer "
    "t JOIN dim_market m ON t.country = m.country AND t.tier = m.tier GROUP BY m.tier",
    "busy_days": "SELECT day, total FROM trades_by_day WHERE n > 100",
    "watched": "SELECT s.symbol, s.company, w.total AS watches, t.total AS traded "
    "FROM watches_by_security w JOIN dim_security s ON w.security_id = s.security_id "
    "LEFT JOIN trades_by_security t ON w.security_id = t.security_id",
    "flows": "SELECT 'trade' AS what, day, total FROM trades_by_day UNION ALL "
    "SELECT kind, day, total FROM cash_by_day",
}

WAREHOUSE_VIEWS = {**_STAGING, **_DIMENSIONS, **_FACTS, **_SUMS, **_REPORTS}
assert len(WAREHOUSE_VIEWS) == 49
