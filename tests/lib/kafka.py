"""A real Kafka broker of the test's own, run by scripts/kafka. One a test file: it takes seconds to start.

    with Kafka() as k:
        topic = k.topic()                        # a new one of 4 partitions
        k.produce(topic, [('key', 'value')])
        route = 'kafka:%s?brokers=%s' % (topic, k.brokers)
        records = k.consume(topic, 1)            # dicts: partition, offset, key, value, headers
"""
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile

from broker import BUILD, SLOW, SRC, free_port

TOOL = os.path.join(BUILD, 'tests', 'lib', 'kafka_tool')


class Kafka:
    def __init__(self, sasl=False, tls=False, settings=()):
        self.folder = tempfile.mkdtemp(prefix='ht-kafka-')
        self.port = free_port()
        self.brokers = '127.0.0.1:%d' % self.port
        self.args = ['--port', str(self.port)]
        self.sasl_port = free_port() if sasl else None
        self.tls_port = free_port() if tls else None
        if sasl:
            self.args += ['--sasl-port', str(self.sasl_port)]
        if tls:
            self.args += ['--tls-port', str(self.tls_port)]
        self.args += list(settings)
        self.proc = None
        self.topics = 0
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        """Starts the broker, again after stop() or kill(), with the data that it had; returns when it answers."""
        with open(os.path.join(self.folder, 'log'), 'ab') as log:
            self.proc = subprocess.Popen([os.path.join(SRC, 'scripts', 'kafka'), 'run', os.path.join(self.folder, 'kafka')] + self.args,
                                         stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            self.tool('wait', '120', timeout=130)
        except AssertionError:
            with open(os.path.join(self.folder, 'log'), errors='replace') as log:
                raise AssertionError('Kafka did not start:\n' + log.read()[-3000:])

    def _end(self, sig):
        if self.proc is not None:
            os.killpg(self.proc.pid, sig)
            self.proc.wait()
            self.proc = None

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def close(self):
        self._end(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def tool(self, *args, stdin=None, timeout=120):
        p = subprocess.run([TOOL, self.brokers] + [str(a) for a in args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout * SLOW)
        if p.returncode != 0:
            raise AssertionError('kafka_tool %s: %s' % (' '.join(str(a) for a in args), p.stderr.decode('utf-8', 'replace')))
        return p.stdout.decode('utf-8', 'replace')

    def topic(self, name=None, partitions=4, *settings):
        """A new topic; its name."""
        self.topics += 1
        name = name or 't%d' % self.topics
        self.tool('create', name, partitions, *settings)
        return name

    def delete(self, topic):
        self.tool('delete', topic)

    def grow(self, topic, partitions):
        self.tool('grow', topic, partitions)

    def trim(self, topic, partition, offset):
        """Deletes the records of a partition before the offset."""
        self.tool('trim', topic, partition, offset)

    def produce(self, topic, records):
        """records: (key, value) or (key, value, partition); None is null. Returns when all are acknowledged."""
        lines = ['\t'.join('-' if f is None else str(f) for f in r) for r in records]
        self.tool('produce', topic, stdin=('\n'.join(lines) + '\n').encode())

    def transact(self, topic, records, end):
        """The same in a transaction that ends by 'commit' or 'abort', or stays 'open'."""
        lines = ['\t'.join('-' if f is None else str(f) for f in r) for r in records]
        self.tool('transact', topic, end, stdin=('\n'.join(lines) + '\n').encode())

    def batches(self, topic, partition=0):
        """What the broker has on its disk of a partition: (codec, records) of each batch."""
        with open(os.path.join(self.folder, 'kafka', 'data', '%s-%d' % (topic, partition), '%020d.log' % 0), 'rb') as f:
            data = f.read()
        out, at = [], 0
        while at + 61 <= len(data):
            length, = struct.unpack_from('>i', data, at + 8)
            attributes, = struct.unpack_from('>h', data, at + 21)
            count, = struct.unpack_from('>i', data, at + 57)
            out.append((('none', 'gzip', 'snappy', 'lz4', 'zstd')[attributes & 7], count))
            at += 12 + length
        return out

    def consume(self, topic, count, seconds=20):
        """The first `count` records of the topic, all partitions; fewer when they do not come within the time."""
        return [json.loads(line) for line in self.tool('consume', topic, count, seconds * SLOW).splitlines()]

    def committed(self, group, topic, partitions=4):
        return [int(line) for line in self.tool('committed', group, topic, partitions).splitlines()]

    def end(self, topic, partitions=4):
        return [int(line) for line in self.tool('end', topic, partitions).splitlines()]
