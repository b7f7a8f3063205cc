import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { refuseClearText } from '../../../src/http/exchange/clear-text.ts'
import { clientAddress, createAddressList } from '../../../src/http/server/client-address.ts'

type Sent = {
  from?: string
  headers?: Record<string, string>
  isTls?: boolean
  listen?: string
  proxies?: string[]
}

/** Whether a request is refused that comes from this address, to a listener at this host. */
function isRefused({
  from = '127.0.0.1',
  headers = {},
  isTls,
  listen = '127.0.0.1',
  proxies = [],
}: Sent) {
  const socket = { remoteAddress: from, ...(isTls && { encrypted: true }) }
  const incoming = { socket, headers } as unknown as IncomingMessage
  const list = createAddressList(proxies)
  const config = { http: { listen: { host: listen, port: 8080, isTls: false } } }
  const address = clientAddress(incoming, list)
  try {
    refuseClearText({ config, proxies: list }, { incoming, address })
    return false
  } catch (error) {
    assert.equal(Object(error).code, 'FORBIDDEN')
    return true
  }
}

const proxies = ['10.0.0.1/32', 'loopback']

describe('S39: a request in clear text', () => {
  it('is refused, unless client and listener are loopback', () => {
    assert.equal(isRefused({}), false)
    assert.equal(isRefused({ from: '::1', listen: '::1' }), false)
    assert.equal(isRefused({ from: '::ffff:127.0.0.1', listen: 'localhost' }), false)
    assert.equal(isRefused({ from: '192.0.2.1' }), true)
    assert.equal(isRefused({ from: '192.0.2.1', listen: '0.0.0.0' }), true)
    assert.equal(isRefused({ listen: '0.0.0.0' }), true)
    assert.equal(isRefused({ listen: '::' }), true)
  })

  it('is none with TLS of this server', () => {
    assert.equal(isRefused({ from: '192.0.2.1', isTls: true, listen: '0.0.0.0' }), false)
  })

  it('is none by TLS of a trusted proxy, in all its parts', () => {
    const by = (proto: string, from = '10.0.0.1') => {
      const headers = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': proto }
      return isRefused({ from, headers, proxies })
    }
    assert.equal(by('https'), false)
    assert.equal(by('HTTPS, https', '127.0.0.1'), false)
    for (const proto of ['http', '', 'https,http', 'http, https', 'https,']) {
      assert.equal(by(proto), true, proto)
    }
  })

  it('is not helped by the word of a stranger, or of a proxy that nobody trusts', () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
    assert.equal(isRefused({ from: '192.0.2.9', headers, proxies }), true)
    // A proxy on this machine that the configuration does not name.
    assert.equal(isRefused({ headers }), true)
    assert.equal(isRefused({ headers: { forwarded: 'for=192.0.2.1;proto=https' } }), true)
  })

  it('of a client on this machine through its proxy is let in', () => {
    assert.equal(isRefused({ headers: { 'x-forwarded-for': '127.0.0.1' }, proxies }), false)
    assert.equal(isRefused({ headers: { 'x-forwarded-for': '192.0.2.1' }, proxies }), true)
  })

  it('is of nobody known when a trusted proxy does not name the client', () => {
    const unnamed: Record<string, string>[] = [
      {},
      { 'x-forwarded-for': '' },
      { 'x-forwarded-for': 'unknown' },
      { 'x-forwarded-for': 'unknown, 127.0.0.1' },
    ]
    for (const headers of unnamed) {
      assert.equal(isRefused({ headers, proxies }), true, JSON.stringify(headers))
    }
    assert.equal(isRefused({ headers: { 'x-forwarded-proto': 'http' }, proxies }), true)
  })
})
