/** On a disabled project, calls that only read work, also those by POST; every other call is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updateProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import type { Route } from '../../src/http/route.ts'
import { newId } from '../../src/store/ids.ts'
import { type TestCore, trustDomain } from '../core.ts'
import { fillPath } from './example-records.ts'
import { listRoutes, nameOf } from './listed-routes.ts'
import { type Method, useService } from './service.ts'

/** Further ones need no line: they are found by `isRead`. */
const READS = [
  'POST /campaigns/:id/check',
  'POST /campaigns/audience',
  'POST /contacts/lookup',
  'POST /contacts/query',
  'POST /render',
  'POST /segments/:id/check',
  'POST /workflows/:id/validate',
]

/** The filled paths of the operations by POST that only read; their records are made before the end. */
const urls = new Map<Route, string>()
const { service, call } = useService({}, async (started) => {
  const { core } = started.service
  await trustDomain(core, started.mine.id, 'example.test')
  await started.call('post', '/contacts').send({ email: 'ada@people.test' }).expect(201)
  for (const route of listOfData(core).filter(
    ({ isRead, method }) => isRead && method === 'POST',
  )) {
    urls.set(route, await fillPath(started, route.path))
  }
  await updateProject(core, started.mine.id, { disable: 'MANUAL' })
})

function listOfData(core: TestCore): Route[] {
  return listRoutes(core).filter(({ callers }) =>
    ['any key', 'secret key', 'member', 'admin'].includes(callers),
  )
}

describe('on a disabled project', () => {
  // That they change nothing: `access.test.ts`.
  it('the reads by POST work, as their examples do', async (t) => {
    const names = [...urls.keys()].map(nameOf)
    assert.deepEqual(
      READS.filter((name) => !names.includes(name)),
      [],
    )
    for (const [route, url] of urls) {
      await t.test(nameOf(route), async () => {
        assert.equal(route.growsDisk, false)
        const { request, status, response } = route.example?.() ?? {}
        const asked = call('post', url)
        const answer = await (request === undefined ? asked : asked.send(Object(request)))
        assert.equal(answer.status, status, answer.text)
        assert.deepEqual(Object.keys(answer.body).sort(), Object.keys(Object(response)).sort())
      })
    }
  })

  it('every other call that is no GET is refused', async () => {
    const others = listOfData(service.core).filter(({ isRead }) => !isRead)
    assert.ok(others.length > 50)
    for (const { method, path } of others) {
      const url = path.replaceAll(/:\w+/g, newId())
      const { status, body } = await call(method.toLowerCase() as Method, url).send({})
      assert.deepEqual([status, body.error?.code], [403, 'PROJECT_DISABLED'], `${method} ${path}`)
    }
  })
})
