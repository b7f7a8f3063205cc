/** The table of routes as a whole; `access.test.ts` calls each route with each kind of caller. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { ruleOf } from '../../src/features/tenancy/accounts/callers/caller.ts'
import { updateProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { type Method, useService } from './service.ts'

const rows = ROUTES.map(([method, path, callers]) => ({ method, path, callers }))
const open = rows.filter(({ callers }) => callers === 'anyone')

const { service, mine, other } = useService()

describe('the table of routes', () => {
  it('has each method and path once', () => {
    const names = rows.map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(names, [...new Set(names)])
  })

  it('is complete: other methods and paths are refused', async () => {
    const wrong = await supertest(service.url).put('/templates')
    assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, POST, HEAD'])
    assert.equal((await supertest(service.url).get('/unknown')).status, 404)
  })
})

describe('a route for anyone', () => {
  it('ignores keys', async () => {
    for (const row of open) {
      const status = await statusOf(row)
      for (const key of [mine.secret, mine.public, other.secret, 'nonsense']) {
        assert.equal(await statusOf(row, key), status, `${row.method} ${row.path}`)
      }
      assert.notEqual(status, 401, row.path)
    }
  })
})

describe('a disabled project', () => {
  it('can still be read', async () => {
    const closed = await service.makeProject('disabled')
    await updateProject(service.core, closed.id, { disable: 'MANUAL' })
    const lists = rows.filter(({ method, path, callers }) => {
      const isKeyed = callers !== 'anyone' && ruleOf(callers).keys.length > 0
      return method === 'GET' && isKeyed && !path.includes(':')
    })
    assert.ok(lists.length > 10)
    for (const row of lists) assert.equal(await statusOf(row, closed.secret), 200, row.path)
  })
})

/** Routes that require a query. */
const QUERIES: Readonly<Record<string, string>> = { '/search': '?q=a' }

/** Requests without bodies; parameters of the path name nothing. */
async function statusOf(
  { method, path }: Pick<(typeof rows)[number], 'method' | 'path'>,
  key?: string,
): Promise<number> {
  const url = path.replaceAll(/:\w+(?:\{\.\+\})?/g, 'unknown')
  const query = QUERIES[path] ?? ''
  const request = supertest(service.url)[method.toLowerCase() as Method](`${url}${query}`)
  if (key !== undefined) request.set('Authorization', `Bearer ${key}`)
  return (await request).status
}
