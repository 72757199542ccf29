"""A broker whose workers are tests/lib/fake_worker: they die, hang, refuse … as the test says, so that the supervisor alone is under test.

    with Fake({'http.0': 'die 1'}) as b: ...

plays: KIND or KIND.INDEX -> what it plays (see fake_worker.c). They are read when a worker starts, so play() holds for successors.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import broker
from broker import BUILD, Broker, alive, children, comm, until

ROUTE = '- route:\n    id: r\n    from:\n      uri: platform-http:/r\n      steps:\n        - setBody: {constant: "hi"}\n'
XML = '- route:\n    id: x\n    from:\n      uri: platform-http:/x\n      steps:\n        - setBody: {xpath: "/a/b"}\n'
TICK = '- route:\n    id: t\n    from:\n      uri: "timer:tick?period=60000"\n      steps:\n        - setBody: {constant: "hi"}\n'


class Fake(Broker):
    def __init__(self, plays=None, files=None, settings=(), http=2, **more):
        self.prepare(plays or {})
        if http:
            settings = ['workers.http.instances=%d' % http] + list(settings)
        super().__init__(files or {'r.yaml': ROUTE}, settings=settings, extra_env={'HINNY_LIBEXECDIR': self.libexec, 'HINNY_FAKE': self.fake}, **more)

    def prepare(self, plays):
        import tempfile
        self.base = tempfile.mkdtemp(prefix='hf-')
        self.libexec = os.path.join(self.base, 'libexec')
        self.fake = os.path.join(self.base, 'fake')
        os.mkdir(self.libexec)
        os.mkdir(self.fake)
        for kind in ('http', 'xform', 'flow'):
            os.symlink(os.path.join(BUILD, 'tests', 'lib', 'fake_worker'), os.path.join(self.libexec, 'hinny-' + kind))
        for name, text in plays.items():
            self.play(name, text)

    def play(self, name, text):
        with open(os.path.join(self.fake, name), 'w') as f:
            f.write(text + '\n')

    def play_nothing(self, name):
        os.unlink(os.path.join(self.fake, name))

    def said(self, word, worker=None, generation=None):
        """Lines (worker, generation, pid) of what fake workers noted: BEGIN, or the name of a frame."""
        try:
            with open(os.path.join(self.fake, 'log')) as f:
                rows = [line.split() for line in f]
        except FileNotFoundError:
            return []
        return [(r[0], int(r[1]), int(r[2])) for r in rows
                if r[3] == word and (worker is None or r[0] == worker) and (generation is None or int(r[1]) == generation)]

    def order(self, *words):
        """What was noted, in order: "worker generation word" for the words given."""
        with open(os.path.join(self.fake, 'log')) as f:
            rows = [line.split() for line in f]
        return ['%s %s %s' % (r[0], r[1], r[3]) for r in rows if r[3] in words]

    def served_by(self):
        """(worker, generation, pid) that answers a request."""
        name, generation, pid = self.get('/r')[2].decode().split()
        return name, int(generation), int(pid)

    def pids(self):
        return [self.proc.pid] + [p for p in children(self.proc.pid)]

    def close(self):
        import shutil
        try:
            super().close()
        finally:
            shutil.rmtree(self.base, ignore_errors=True)


def descriptors(pid):
    """Numbers of the open descriptors of a process."""
    return sorted(int(n) for n in os.listdir('/proc/%d/fd' % pid))


def settle_to(b, generation):
    """Waits until that generation alone is there and serves."""
    def look():
        g = b.status()['generations']
        return [(x['number'], x['state']) for x in g] == [(generation, 'serving')]
    until(look, 15, 'generation %d alone' % generation)


__all__ = ['Fake', 'ROUTE', 'XML', 'TICK', 'alive', 'broker', 'children', 'comm', 'descriptors', 'settle_to', 'until']
