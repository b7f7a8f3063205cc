/** Secrets of a project: an ADMIN and the secret key see what a MEMBER sees masked. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addMember, addUser, logIn } from '../../session.ts'
import { type Method, useService } from '../service.ts'

type Headers = Record<string, string>

const AUTHORIZATION = 'Bearer sentinel-of-a-step'
const member: Headers = {}
const admin: Headers = {}
const key: Headers = {}
const { call } = useService({}, async ({ service: { core }, mine }) => {
  for (const [role, headers] of [
    ['MEMBER', member],
    ['ADMIN', admin],
  ] as const) {
    const { id: userId } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId, role })
    Object.assign(headers, { cookie: await logIn(core, userId), 'x-project-id': mine.id })
  }
  key.authorization = `Bearer ${mine.secret}`
})

const as = (headers: Headers) => (method: Method, path: string) =>
  call(method, path).unset('authorization').set(headers)

describe('S30: an ADMIN and the secret key', () => {
  it('see what a MEMBER sees masked, and a mask that a MEMBER sends back changes nothing', async () => {
    const made = await call('post', '/workflows').send({ name: 'Hook', eventName: 'a.b' })
    const path = `/workflows/${made.body.id}`
    const url = 'https://hooks.test/in'
    const headers = { Authorization: AUTHORIZATION, 'X-Shop': 'one' }
    const config = { url, method: 'POST', headers }
    const step = { type: 'WEBHOOK', name: 'Call', position: { x: 1, y: 1 }, config }
    const added = await as(member)('post', `${path}/steps`).send(step)
    assert.equal(added.body.config.headers.Authorization, '***', added.text)
    const stepPath = `${path}/steps/${added.body.id}`

    const headersFor = async (who: Headers, from = path) => {
      const { body } = await as(who)('get', from)
      return body.steps.find(({ type }: { type: string }) => type === 'WEBHOOK').config.headers
    }
    const masked = { ...headers, Authorization: '***' }
    const expectKept = async (from = path) => {
      assert.deepEqual(await headersFor(member, from), masked)
      for (const who of [admin, key]) assert.deepEqual(await headersFor(who, from), headers)
    }
    await expectKept()
    const { body: whole } = await as(member)('get', path)
    const graph = {
      steps: whole.steps.map(
        ({ id, type, name, position, config: given }: typeof step & { id: string }) => ({
          ...{ id, type, name, position, config: given },
        }),
      ),
      transitions: [],
    }
    const put = await as(member)('put', `${path}/graph`).send(graph)
    assert.equal(put.status, 200, put.text)
    await expectKept()
    const renamed = { name: 'Renamed', config: { ...config, headers: masked, method: 'PUT' } }
    assert.equal((await as(member)('patch', stepPath).send(renamed)).status, 200)
    await expectKept()
    const copy = await as(member)('post', `${path}/duplicate`).send({})
    await expectKept(`/workflows/${copy.body.id}`)

    const refused = async (sent: ReturnType<typeof call>, field: string) => {
      const { status, body } = await sent
      assert.deepEqual([status, body.error.errors[0].field], [422, field])
    }
    for (const elsewhere of ['https://evil.test/', `${url}/2`, `${url}?to=2`, `${url}{{ to }}`]) {
      await refused(
        as(member)('patch', stepPath).send({
          config: { ...config, headers: masked, url: elsewhere },
        }),
        'config.headers.Authorization',
      )
    }
    await refused(
      as(member)('post', `${path}/steps`).send({ ...step, config: { ...config, headers: masked } }),
      'config.headers.Authorization',
    )
    const [first, second] = graph.steps
    const moved = {
      ...graph,
      steps: [first, { ...second, id: '0199a7c0-0000-7000-8000-0000000000ab' }],
    }
    await refused(
      as(member)('put', `${path}/graph`).send(moved),
      'steps.1.config.headers.Authorization',
    )
    const stale = await as(member)('patch', path).set('if-match', '"1"').send({ name: 'Late' })
    assert.equal(stale.status, 412)
    assert.equal(stale.text.includes(AUTHORIZATION), false)
    await expectKept()
  })

  it('see signing secrets; a MEMBER sees that there is one', async () => {
    const hook = { url: 'https://hooks.test/in', events: ['email.*'] }
    const secretFor = async (headers: Headers, method: 'get' | 'post', path: string) =>
      (
        await call(method, path)
          .unset('authorization')
          .set(headers)
          .send(method === 'post' ? hook : undefined)
      ).body.secret
    const { body } = await call('post', '/webhooks/endpoints').send(hook)
    for (const [method, path] of [
      ['get', '/webhooks/signing-secret'],
      ['post', '/webhooks/signing-secret/rotate'],
      ['post', '/webhooks/endpoints'],
      ['post', `/webhooks/endpoints/${body.id}/rotate-secret`],
    ] as const) {
      assert.equal(await secretFor(member, method, path), 'whsec_***', path)
      assert.match(await secretFor(admin, method, path), /^whsec_[\w+/]{43}=$/, path)
    }
  })
})
