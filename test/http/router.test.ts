import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noContent } from '../../src/http/response.ts'
import { type Method, openOperation, openRoute } from '../../src/http/route.ts'
import { createRouter } from '../../src/http/router.ts'

const UPPER = '0199A3F0-0000-7000-8000-00000000000A'

function routerOf(...lines: string[]) {
  const entries = lines.map((line) => {
    const [method = '', path = '', mark] = line.split(' ')
    const operation = openOperation({
      ...{ tag: 'Test', summary: 'Test', responses: {}, handle: noContent },
      isUnlogged: mark === 'unlogged',
    })
    return { method, path, route: openRoute({ method: method as Method, path }, operation) }
  })
  const { find } = createRouter(entries)
  return (method: string, path: string) => {
    const found = find(method, path)
    return found && [found.route.path, { ...found.params }]
  }
}

test('a path without parameters is found with and without a slash at its end', () => {
  const find = routerOf('GET /contacts', 'GET /contacts/:id', 'GET /')
  assert.deepEqual(find('GET', '/contacts'), ['/contacts', {}])
  assert.deepEqual(find('GET', '/contacts/'), ['/contacts', {}])
  assert.deepEqual(find('GET', '/contacts/7/'), ['/contacts/:id', { id: '7' }])
  assert.deepEqual(find('GET', '/'), ['/', {}])
  for (const path of ['/contacts//', '/Contacts', '/contacts/7/8', '']) {
    assert.equal(find('GET', path), undefined, path)
  }
  assert.equal(find('POST', '/contacts'), undefined)
})

test('a path that ends with a token is taken as it is', () => {
  const find = routerOf('GET /t/:token unlogged')
  assert.deepEqual(find('GET', '/t/abc'), ['/t/:token', { token: 'abc' }])
  assert.equal(find('GET', '/t/abc/'), undefined)
})

test('of the routes that match, the first takes the request', () => {
  const find = routerOf('GET /a/new', 'GET /a/:id', 'GET /a/:name', 'GET /files/:page{.+}')
  assert.deepEqual(find('GET', '/a/new'), ['/a/new', {}])
  assert.deepEqual(find('GET', '/a/old'), ['/a/:id', { id: 'old' }])
  assert.deepEqual(find('GET', '/files/x/y'), ['/files/:page{.+}', { page: 'x/y' }])
})

test('a word of a path is no id, with any method', () => {
  const find = routerOf('GET /a/:id', 'GET /a/:id/b', 'POST /a/new', 'DELETE /a/:name')
  assert.deepEqual(find('POST', '/a/new'), ['/a/new', {}])
  assert.equal(find('GET', '/a/new'), undefined)
  assert.equal(find('GET', '/a/new/'), undefined)
  assert.deepEqual(find('GET', '/a/new/b'), ['/a/:id/b', { id: 'new' }])
  assert.deepEqual(find('DELETE', '/a/new'), ['/a/:name', { name: 'new' }])
  assert.deepEqual(find('GET', '/a/7'), ['/a/:id', { id: '7' }])
})

test('a route that an earlier one hides is refused when the server starts', () => {
  assert.throws(() => routerOf('GET /a/:id', 'GET /a/new'), /a\/new is never reached/)
  assert.throws(() => routerOf('GET /a', 'GET /a'), /is never reached/)
  assert.doesNotThrow(() => routerOf('GET /a/:id', 'POST /a/new'))
})

test('parameters are decoded, and ids are in lower case', () => {
  const find = routerOf('GET /:id/:contactId/:name')
  const names = { id: UPPER.toLowerCase(), contactId: 'NO-UUID', name: UPPER }
  assert.deepEqual(find('GET', `/${UPPER}/NO-UUID/${UPPER}`)?.[1], names)
  assert.deepEqual(find('GET', '/a/b/c%2Fd%zz')?.[1], { id: 'a', contactId: 'b', name: 'c/d%zz' })
})
