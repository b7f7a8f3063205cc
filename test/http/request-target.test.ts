import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { readRequestTarget } from '../../src/http/router.ts'

function read(url: string, host: string | null = 'mail.test', httpVersion = '1.1') {
  const rawHeaders = host === null ? [] : ['Host', host]
  const headers = host === null ? {} : { host }
  const found = readRequestTarget({
    url,
    headers,
    rawHeaders,
    httpVersion,
  } as unknown as IncomingMessage)
  return found && [found.path, { ...found.query }]
}

for (const [url, path, query = {}] of [
  ['/v1/send', '/v1/send'],
  [
    '/v1/send?a=1&b=&id=&contactId=&limit=',
    '/v1/send',
    { a: '1', id: '', contactId: '', limit: '' },
  ],
  ['/a?x=%41+b&y', '/a', { x: 'A b' }],
  ['/a?x=1&x=2#y', '/a', { x: '1' }],
  ['/a#b?c=d', '/a'],
  ['/a/../b/./c', '/b/c'],
  ['/a/%2e%2e/b', '/b'],
  ['/a%2Fb%20c', '/a%2Fb c'],
  ['/a%zz', '/a%zz'],
  ['/a{b}', '/a{b}'],
  ['//', '//'],
  ['http://other.test/b?c=d', '/b', { c: 'd' }],
  ['https://user:key@other.test:99', '/'],
  ['HTTP://host/health', '/health'],
  ['hTTps://Host/b/../c?d=E', '/c', { d: 'E' }],
] as [string, string, object?][]) {
  test(`the target ${url} has the path ${path}`, () => {
    assert.deepEqual(read(url), [path, query])
  })
}

for (const url of [
  '*',
  'a',
  'mail.test:80',
  '/a\\b',
  'http://',
  'http://a b/',
  'ftp://a/b',
  'xhttp://a/b',
  '',
]) {
  test(`the target "${url}" forms no URL`, () => {
    assert.equal(read(url), undefined)
  })
}

test('a Host field is a host with or without a port', () => {
  for (const host of ['mail.test', 'Mail.Test:443', 'mail.test:8080', '[::1]:80', '10.0.0.1', '']) {
    assert.deepEqual(read('/a', host), ['/a', {}], host)
  }
  for (const host of ['a b', 'user@mail.test', 'mail.test/b', 'mail.test?b', 'a:99999']) {
    assert.equal(read('/a', host), undefined, host)
  }
})

test('HTTP/1.1 demands one Host field, and HTTP/1.0 at most one', () => {
  assert.equal(read('/a', null), undefined)
  assert.deepEqual(read('/a', null, '1.0'), ['/a', {}])
  for (const httpVersion of ['1.0', '1.1']) {
    const rawHeaders = ['HOST', 'a', 'Accept', 'host', 'host', 'b']
    const twice = { url: '/a', headers: { host: 'a' }, rawHeaders, httpVersion }
    assert.equal(readRequestTarget(twice as unknown as IncomingMessage), undefined)
  }
})
