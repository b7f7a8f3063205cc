/** On a disabled project, calls that only read work, also those by POST; every other call is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updateProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { newId } from '../../src/store/ids.ts'
import { trustDomain } from '../core.ts'
import { listRoutes, nameOf } from './listed-routes.ts'
import { type Method, useService } from './service.ts'

const ids: Record<string, string> = {}
const condition = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
}
const { service, call } = useService({}, async (started) => {
  const { core } = started.service
  await trustDomain(core, started.mine.id, 'example.test')
  const make = async (path: string, body: object) =>
    (await started.call('post', path).send(body).expect(201)).body
  await make('/contacts', { email: 'ada@people.test', subscribed: true })
  ids.workflows = (await make('/workflows', { name: 'x', eventName: 'signup' })).id
  ids.segments = (await make('/segments', { name: 'x', condition })).id
  const mail = { name: 'x', subject: 'x', body: '<p>x</p>', from: 'a@example.test' }
  ids.campaigns = (await make('/campaigns', { ...mail, audienceType: 'ALL' })).data.id
  await updateProject(core, started.mine.id, { disable: 'MANUAL' })
})

/** The body of each read, and what its answer has. */
const READS: Readonly<Record<string, { body?: object; has: string }>> = {
  'POST /contacts/query': { body: { filter: condition }, has: 'data' },
  'POST /contacts/lookup': { body: { emails: ['ada@people.test'] }, has: 'found' },
  'POST /render': { body: { subject: 'x', body: '<p>x</p>' }, has: 'html' },
  'POST /segments/:id/check': { has: 'findings' },
  'POST /campaigns/audience': { body: { audienceType: 'ALL' }, has: 'matching' },
  'POST /campaigns/:id/check': { has: 'findings' },
  'POST /workflows/:id/validate': { has: 'findings' },
}

describe('on a disabled project', () => {
  const ofData = () =>
    listRoutes(service.core).filter(({ callers }) =>
      ['any key', 'secret key', 'member', 'admin'].includes(callers),
    )

  // That they change nothing: `access.test.ts`.
  it('the reads by POST are those of this test', () => {
    const reads = ofData().filter(({ isRead, method }) => isRead && method !== 'GET')
    assert.deepEqual(reads.map(nameOf).sort(), Object.keys(READS).sort())
    assert.ok(reads.every(({ growsDisk }) => !growsDisk))
  })

  for (const [name, { body, has }] of Object.entries(READS)) {
    it(`${name} works`, async () => {
      const path = name.replace('POST ', '')
      const url = path.replace(':id', ids[path.split('/')[1] ?? ''] ?? '')
      const asked = call('post', url)
      const { status, body: answer } = await (body === undefined ? asked : asked.send(body))
      assert.equal(status, 200, JSON.stringify(answer))
      assert.ok(has in answer, Object.keys(answer).join())
    })
  }

  it('every other call that is no GET is refused', async () => {
    const others = ofData().filter(({ isRead }) => !isRead)
    assert.ok(others.length > 50)
    for (const { method, path } of others) {
      const url = path.replaceAll(/:\w+/g, newId())
      const { status, body } = await call(method.toLowerCase() as Method, url).send({})
      assert.deepEqual([status, body.error?.code], [403, 'PROJECT_DISABLED'], `${method} ${path}`)
    }
  })
})
