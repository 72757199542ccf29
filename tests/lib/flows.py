"""The three flows of conf/examples/proxy on a broker of the test's own, and what they must answer."""
import os

from broker import Broker, EXAMPLES, Load, free_port

PROXY = os.path.join(EXAMPLES, 'proxy')
ORDERS = os.path.join(PROXY, 'orders')
FLOWS = ('DirectProxy', 'CBRProxy', 'XSLTProxy')
SIZES = ('500b', '1k', '5k', '10k')
ROUTES = ('echo.yaml', 'direct-proxy.yaml', 'content-based-router.yaml', 'transform.yaml')
FILES = ROUTES + ('request.xsl', 'response.xsl')


def read(name):
    with open(os.path.join(PROXY, name), 'rb') as f:
        return f.read()


def files():
    """The files of the example, by name."""
    return {name: read(name) for name in FILES}


def broker(more=None, routes=ROUTES, **options):
    """A broker with the flows (and the files of `more`) whose back end is its own echo route."""
    port = options.pop('port', None) or free_port()
    properties = ['backend=127.0.0.1:%d' % port] + list(options.pop('properties', ()))
    return Broker(dict(files(), **(more or {})), routes=list(routes), port=port, properties=properties, **options)


def order(size):
    return os.path.join(ORDERS, 'order-%s.xml' % size)


def answer(flow, size):
    """The file that has what the flow answers to the order."""
    return os.path.join(ORDERS, 'order-%s%s.xml' % (size, '.transformed' if flow == 'XSLTProxy' else ''))


def load(b, flow, size='1k', **options):
    options.setdefault('expect', answer(flow, size))
    return Load(b.port, '/service/' + flow, body=order(size), **options)
