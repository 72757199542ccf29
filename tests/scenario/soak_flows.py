#!/usr/bin/env python3
"""The three flows at full load for 10 minutes (SOAK_SECONDS): no request fails, and the memory of no process grows."""
import os
import sys
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
import flows
from broker import SANITIZED, comm, main, own_kib, pss_kib

SECONDS = float(os.environ.get('SOAK_SECONDS', '600'))
CLIENTS = int(os.environ.get('SOAK_CLIENTS', '64'))
EVERY = max(0.5, min(5.0, SECONDS / 40))


def memory(pid):
    """(PSS, its own) in KiB."""
    return pss_kib([pid]), own_kib([pid])


def medians(pairs):
    return [sorted(p[k] for p in pairs)[len(pairs) // 2] for k in (0, 1)]


def test_flat_memory_at_full_load():
    with flows.broker() as b:
        loads = [flows.load(b, flow, size, connections=max(1, CLIENTS // 6), seconds=SECONDS) for flow in flows.FLOWS for size in ('1k', '10k')]
        pids = b.pids()
        samples = {pid: [] for pid in pids}
        end = time.monotonic() + SECONDS - EVERY
        while time.monotonic() < end:
            time.sleep(EVERY)
            for pid in pids:
                samples[pid].append(memory(pid))
            assert b.proc.poll() is None
        results = [load.all_ok(retried=0, timeout=SECONDS + 60) for load in loads]
        print('%d requests in %.0f s' % (sum(r['requests'] for r in results), SECONDS))
        assert sorted(b.pids()) == sorted(pids), 'a process was replaced'
        grown = []
        for pid in pids:
            n = len(samples[pid])
            # After the first quarter everything is warm: the last quarter must look like the second.
            early, late = medians(samples[pid][n // 4:n // 2]), medians(samples[pid][-(n // 4):])
            print('%-12s %6d: PSS %d -> %d KiB, its own %d -> %d KiB' % (comm(pid), pid, early[0], late[0], early[1], late[1]))
            if late[1] > early[1] * 1.1 + 512:
                grown.append(pid)
        assert SANITIZED or not grown, grown
        assert all(k['deaths'] == 0 for k in b.status()['kinds'].values())


if __name__ == '__main__':
    main(globals())
