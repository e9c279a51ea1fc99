import time, sys, os, resource, psutil, pytest
sys.path.insert(0,'/work/main')
from tests.scenarios.test_every_change import *
def test_p(shared_lake):
    import cProfile
    lake=shared_lake
    me=psutil.Process()
    def cpu():
        return sum(sum(p.cpu_times()[:2]) for p in me.children(recursive=True))+time.process_time()
    def tick(label, f, *a):
        t,c=time.time(),cpu()
        r=f(*a)
        print(f"{label:30} {time.time()-t:6.2f}s cpu {cpu()-c:6.2f}", flush=True)
        return r
    north = order(1, "north", 1, "10.00", 1, 0.5, 3)
    tick("orders",lake.source,"orders", ORDERS, [north,north,order(2, "north", 2, "20.00", 2, 1.25, 1)])
    tick("cust",lake.source,"customers", CUSTOMERS, [(1, "Ada", "gold"), (2, "Bob", "silver")])
    for n in ("join_sums","per_region","plain","float_sums","left_joined"):
        tick("view "+n,lake.view,n,VIEWS[n])
    tick("insert",lake.run,"INSERT INTO {orders} VALUES (7, 'east', 4, 3.00, 5, 1.5, DATE'2026-01-04')")
    for n in lake.queries:
        print(tick("refresh "+n,lake.refresh,n)[n].profile)
    tick("delete",lake.run,"DELETE FROM {orders} WHERE id = 2")
    for n in lake.queries:
        print(tick("refresh "+n,lake.refresh,n)[n].profile)
    for n in lake.queries:
        tick("recomp "+n,lake.recomputed,n)
        tick("content "+n,lake.content,n)
        tick("verify "+n,lake.hw.verify,n)
    tick("noop",lake.refresh)
