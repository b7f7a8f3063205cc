import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../../src/base/clock.ts'
import { readSigningSecret } from '../../../../../src/features/outreach/webhooks/signing-secret.ts'
import {
  hideInUrl,
  parseResponse,
} from '../../../../../src/features/outreach/workflows/requests/attempt.ts'
import { takeRequests } from '../../../../../src/features/outreach/workflows/requests/load.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import {
  type WorkflowStepExecution,
  workflowExecutions,
  workflowRequests,
  workflows,
} from '../../../../../src/store/schema/workflows.ts'
import { currentOwner } from '../../../../../src/turns/owner.ts'
import { addProject } from '../../../../core.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import { cancelAll, openRequests } from './stage.ts'

const hasEnded = ({ completedAt }: WorkflowStepExecution) => completedAt !== null
const wasTried = ({ output }: WorkflowStepExecution) => output !== null

test('S30: what a receiver sends back of the headers that the input hides is hidden, too', () => {
  const secrets = ['Bearer abcd"efgh', 'short', 'session=1234567']
  const sent = {
    auth: 'Bearer abcd"efgh',
    token: 'abcd"efgh',
    cookie: 'session=1234567',
    a: 'short',
  }
  const hidden = { auth: '***', token: '***', cookie: '***', a: 'short' }
  assert.deepEqual(parseResponse(Buffer.from(JSON.stringify(sent)), secrets), hidden)
  assert.equal(parseResponse(Buffer.from('got abcd"efgh!'), secrets), 'got ***!')
})

test('url, header values and strings of the body are rendered; the request is signed under the id of the step', async (t) => {
  const stage = await openRequests(t, { now: Date.now })
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(201).end('{"ok":[true]}')
  const begun = await stage.begin(
    {
      url: `${receiver.url}/{{ order }}?for={{ email | url_encode }}`,
      method: 'PUT',
      headers: { 'X-Name': '{{ data.name }}', Authorization: 'Bearer {{ event.key }}' },
      body: { text: 'Hi {{ name }} <{{ id }}>', deep: [{ a: '{{ event.order }}' }], n: 1 },
    },
    { data: { name: 'Ann & Bo' }, context: { order: 7, key: 'k1' } },
  )
  const row = await stage.until(begun, hasEnded)
  const [request] = receiver.received
  assert.deepEqual(
    [request?.method, request?.url],
    ['PUT', `/hook/7?for=${encodeURIComponent(await addressOf(stage, begun.contactId))}`],
  )
  assert.deepEqual(JSON.parse(request?.body ?? ''), {
    ...{ text: `Hi Ann & Bo <${begun.contactId}>`, deep: [{ a: '7' }], n: 1 },
  })
  const headers = request?.headers as Record<string, string>
  assert.deepEqual(
    [headers['x-name'], headers.authorization, headers['content-type'], headers['webhook-id']],
    ['Ann & Bo', 'Bearer k1', 'application/json', begun.stepExecutionId],
  )
  const { secret } = await readSigningSecret(stage.core, stage.projectId)
  new Webhook(secret).verify(request?.body ?? '', headers)
  assert.equal(row.status, 'COMPLETED')
  const { durationMs, ...output } = row.output ?? {}
  assert.deepEqual(output, {
    ...{ url: `http://127.0.0.1${receiver.url.slice(16)}${request?.url.slice(5)}`, method: 'PUT' },
    ...{ statusCode: 201, success: true, response: { ok: [true] }, attempts: 1 },
  })
  assert.deepEqual(row.input?.headers, {
    ...{ 'content-type': 'application/json', 'user-agent': 'Pillarbox-Webhooks' },
    ...{ 'x-name': 'Ann & Bo', authorization: '***' },
  })
  assert.equal(row.error, null)
})

test('the end deletes the request and makes the execution due at once, whatever the clock says, and the engine is told', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const begun = await stage.begin({ url: receiver.url, method: 'POST' })
  await stage.until(begun, hasEnded)
  const isIt = eq(workflowExecutions.number, begun.number)
  const [execution] = await stage.core.store.read.select().from(workflowExecutions).where(isIt)
  assert.deepEqual(
    [execution?.dueAt, execution?.status, await stage.countRequests()],
    [0, 'WAITING', 0],
  )
  const { workflowId } = begun
  while (stage.due.length === 0) await setImmediate()
  assert.deepEqual(stage.due, [{ kind: 'due', workflowId, projectId: stage.projectId, dueAt: 0 }])
})

test('without a body the payload tells of contact, workflow, execution and event; a GET has none', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  for (const method of ['POST', 'DELETE', 'GET'] as const) {
    const begun = await stage.begin({ url: receiver.url, method })
    await stage.until(begun, hasEnded)
    const { body } = receiver.received.at(-1)!
    if (method === 'GET') assert.equal(body, '')
    else
      assert.deepEqual(JSON.parse(body), {
        contact: {
          email: await addressOf(stage, begun.contactId),
          ...{ subscribed: true, data: { name: 'Ann' } },
        },
        workflow: { id: begun.workflowId, name: 'Orders' },
        execution: {
          ...{ id: begun.executionId, startedAt: new Date(stage.core.clock.now).toISOString() },
        },
        event: { order: 7 },
      })
  }
  const begun = await stage.begin({ url: receiver.url, method: 'GET', body: { a: 1 } })
  await stage.until(begun, hasEnded)
  assert.equal(receiver.received.at(-1)?.body, '')
})

test('page links of the contact may stand in a body', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const body = '{{ unsubscribeUrl }} {{ subscribeUrl }} {{ manageUrl }}'
  await stage.until(await stage.begin({ url: receiver.url, method: 'POST', body }), hasEnded)
  const links = receiver.received[0]?.body.split(' ').map((link) => new URL(link).pathname)
  assert.deepEqual(
    links?.map((path) => path.split('/')[1]),
    ['unsubscribe', 'subscribe', 'manage'],
  )
})

test('the postal address of the project may stand in a body', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const postalAddress = '1 Main Street, Ghent'
  await stage.core.store.write((tx) => tx.update(projects).set({ postalAddress }))
  const body = '{{ postalAddress }}'
  await stage.until(await stage.begin({ url: receiver.url, method: 'POST', body }), hasEnded)
  assert.equal(receiver.received[0]?.body, postalAddress)
})

for (const status of [408, 425, 429, 500, 503]) {
  test(`${status} is tried again, and the execution waits meanwhile`, async (t) => {
    const stage = await openRequests(t)
    const receiver = await startReceiver(t)
    receiver.answer = (response) => response.writeHead(status).end('later')
    const begun = await stage.begin({ url: receiver.url, method: 'POST' })
    const row = await stage.until(begun, wasTried)
    assert.deepEqual(
      [row.status, row.error, row.output?.statusCode, row.output?.response, row.completedAt],
      ['WAITING', `the server answered ${status}`, status, 'later', null],
    )
    const nextAt = stage.core.clock.now + 10 * SECOND_MS
    assert.equal(row.output?.nextAttemptAt, new Date(nextAt).toISOString())
    assert.equal(await stage.countRequests(), 1)
    assert.deepEqual(stage.due, [])
  })
}

test('retries come at their times, with the same message under the same id, and then the step fails', async (t) => {
  const stage = await openRequests(t)
  const { clock } = stage.core
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const body = '{{ name }} {{ "now" | date: "%s" }}'
  const begun = await stage.begin({ url: receiver.url, method: 'POST', body })
  const waits: number[] = []
  for (let attempt = 1; ; attempt += 1) {
    const row = await stage.until(begun, ({ output }) => output?.attempts === attempt)
    if (row.status !== 'WAITING') {
      assert.deepEqual([row.status, row.error], ['FAILED', 'the server answered 500'])
      assert.equal(row.output?.nextAttemptAt, undefined)
      break
    }
    // A later change of the contact does not change the message.
    await stage.core.store.write((tx) => tx.update(contacts).set({ data: { name: 'Bo' } }))
    const nextAt = Date.parse(String(row.output?.nextAttemptAt))
    waits.push(nextAt - clock.now)
    clock.now = nextAt
    stage.requester.reload()
  }
  assert.deepEqual(waits, [
    10 * SECOND_MS,
    ...[1, 5, 30].map((minutes) => minutes * MINUTE_MS),
    2 * HOUR_MS,
  ])
  assert.equal(receiver.received.length, 6)
  assert.equal(new Set(receiver.received.map(({ body: sent }) => sent)).size, 1)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(new Set(ids), new Set([begun.stepExecutionId]))
})

test('a wait that the server asks for is kept', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(503, { 'retry-after': '90' }).end()
  const begun = await stage.begin({ url: receiver.url, method: 'POST' })
  const row = await stage.until(begun, wasTried)
  const nextAt = new Date(stage.core.clock.now + 90 * SECOND_MS).toISOString()
  assert.equal(row.output?.nextAttemptAt, nextAt)
})

for (const status of [400, 401, 404, 410, 422]) {
  test(`${status} fails the step at once, with the result kept`, async (t) => {
    const stage = await openRequests(t)
    const receiver = await startReceiver(t)
    receiver.answer = (response) => response.writeHead(status).end('no')
    const begun = await stage.begin({ url: receiver.url, method: 'POST' })
    const row = await stage.until(begun, hasEnded)
    assert.deepEqual(
      [row.status, row.output?.statusCode, row.output?.response, row.output?.success],
      ['FAILED', status, 'no', false],
    )
    assert.equal(receiver.received.length, 1)
  })
}

test('S30: what the input hides is hidden in the url of a redirect, too', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response, { url, headers }) => {
    if (!url.endsWith('/')) return void response.end()
    const location = `/at?key=${encodeURIComponent(headers.authorization ?? '')}`
    response.writeHead(307, { location }).end()
  }
  const headers = { Authorization: 'Bearer abcd/efgh' }
  const begun = await stage.begin({ url: `${receiver.url}/`, method: 'POST', headers })
  const { output } = await stage.until(begun, hasEnded)
  assert.equal(output?.redirectedTo, new URL('/***', receiver.url).href)
})

test('S30: a hidden value is found in a url in every encoding', () => {
  const secrets = ["Bearer abc'd/e f!gh"]
  for (const shown of [
    'Bearer%20abc%27d%2Fe%20f%21gh',
    'Bearer+abc%27d%2fe+f%21gh',
    "abc'd/e%20f!gh",
    '%61bc%27d%2Fe+f!gh',
  ])
    assert.equal(hideInUrl(`https://a.test/in?key=${shown}`, secrets), 'https://a.test/***', shown)
  const other = 'https://a.test/in?a=%zz+b'
  assert.equal(hideInUrl(other, secrets), other)
})

test('redirects are followed, at most five', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response, { url }) => {
    const left = Number(/\d+$/.exec(url)?.[0])
    if (left > 0) response.writeHead(307, { location: `/${left - 1}` }).end()
    else response.end('here')
  }
  const done = await stage.begin({ url: `${receiver.url}/5`, method: 'POST' })
  assert.equal((await stage.until(done, hasEnded)).output?.response, 'here')
  const endless = await stage.begin({ url: `${receiver.url}/6`, method: 'POST' })
  const row = await stage.until(endless, hasEnded)
  assert.deepEqual([row.status, row.output?.statusCode], ['FAILED', 307])
})

const bad: [string, string, RegExp][] = [
  ['an address that is not allowed', 'http://169.254.169.254/latest', /is not allowed/],
  ['a url that is none once rendered', '{{ nothing }}', /not an http or https URL/],
  ['another protocol', 'file:///etc/passwd', /not an http or https URL/],
]
for (const [what, url, error] of bad) {
  test(`${what} fails the step at once`, async (t) => {
    const stage = await openRequests(t)
    const begun = await stage.begin({ url, method: 'POST' })
    const row = await stage.until(begun, hasEnded)
    assert.equal(row.status, 'FAILED')
    assert.match(row.error ?? '', error)
  })
}

test('S14: a redirect to cloud metadata fails the step at once', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const location = 'http://169.254.169.254/latest/meta-data/'
  receiver.answer = (response) => response.writeHead(302, { location }).end()
  const begun = await stage.begin({ url: receiver.url, method: 'POST' })
  const row = await stage.until(begun, hasEnded)
  assert.equal(row.status, 'FAILED')
  assert.match(row.error ?? '', /169\.254\.169\.254/)
})

test('a value cannot add a header, and the signature cannot be given', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const data = { name: 'Ann\r\nX-Evil: 1', city: 'Köln' }
  const headers = {
    ...{ 'X-Name': '{{ name }}', 'X-City': '{{ city }}', 'webhook-id': 'mine', Host: 'evil' },
    ...{ 'webhook-signature': 'v1,x', 'Transfer-Encoding': 'chunked', 'bad name': 'x' },
  }
  const begun = await stage.begin({ url: receiver.url, method: 'POST', headers }, { data })
  await stage.until(begun, hasEnded)
  const got = receiver.received[0]?.headers
  assert.equal(got?.['x-name'], 'Ann X-Evil: 1')
  assert.equal(Buffer.from(String(got?.['x-city']), 'latin1').toString(), 'Köln')
  assert.equal(got?.['x-evil'], undefined)
  assert.equal(got?.['webhook-id'], begun.stepExecutionId)
  assert.equal(got?.host, new URL(receiver.url).host)
})

test('a result whose execution was cancelled meanwhile is dropped', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const asked = Promise.withResolvers<() => void>()
  receiver.answer = (response) => asked.resolve(() => response.end('late'))
  const begun = await stage.begin({ url: receiver.url, method: 'POST' })
  const answer = await asked.promise
  await cancelAll(stage, begun)
  const recorded = new Promise<void>((resolve) => {
    const unlisten = stage.core.store.onCommit(() => {
      unlisten()
      resolve()
    })
  })
  answer()
  await recorded
  const row = await stage.step(begun)
  assert.deepEqual([row.status, row.output, stage.due.length], ['WAITING', null, 0])
})

test('after all were cancelled, new requests are made and those to try again wait for the rows', async (t) => {
  const stage = await openRequests(t)
  const { core, projectId } = stage
  await stage.requester.stop(0)
  const begun = await stage.begin({ url: 'http://127.0.0.1:9/', method: 'POST' })
  const query = { taken: new Set<number>(), limit: 10, now: core.clock.now }
  const take = async () => {
    const taken = await takeRequests(core, { id: begun.workflowId, projectId }, query)
    return [taken.tasks.map(({ number }) => number), taken.nextDueAt]
  }
  const setDue = (dueAt: number) =>
    core.store.write((tx) => tx.update(workflowRequests).set({ dueAt }))
  const setThrough = (cancelledThrough: number) =>
    core.store.write((tx) => tx.update(workflows).set({ cancelledThrough }))
  assert.deepEqual(await take(), [[begun.number], null])
  await setThrough(begun.number)
  assert.deepEqual(await take(), [[], core.clock.now + SECOND_MS])
  await setDue(1)
  await setThrough(begun.number + 1)
  assert.deepEqual(await take(), [[], core.clock.now + SECOND_MS])
  await setThrough(0)
  assert.deepEqual(await take(), [[begun.number], null])
})

test('a deleted contact takes its request along; nothing is sent or written', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const begun = await stage.begin({ url: receiver.url, method: 'POST' })
  await stage.until(begun, wasTried)
  await stage.core.store.write((tx) => tx.delete(contacts))
  assert.equal(await stage.countRequests(), 0)
  stage.core.clock.now += HOUR_MS
  stage.requester.reload()
  const other = await stage.begin({ url: receiver.url, method: 'POST' })
  await stage.until(other, wasTried)
  assert.equal(receiver.received.length, 2)
})

test('the request of a disabled project is not made; its step fails', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  await updateProject(stage.core, stage.projectId, { disable: 'MANUAL' })
  const begun = await stage.begin({ url: receiver.url, method: 'POST' })
  const row = await stage.until(begun, hasEnded)
  assert.deepEqual([row.status, row.error], ['FAILED', 'the project is disabled'])
  assert.equal(receiver.received.length, 0)
})

test('S14: values of the contact and of the event change no segment, no parameter and no host', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const begin = async (url: string, value: string) => {
    const given = { data: { v: value }, context: { v: value } }
    const begun = await stage.begin({ url, method: 'POST' }, given)
    return stage.until(begun, hasEnded)
  }
  const hostile = '/../admin?key=1&all=yes#x\r\nü'
  const url = `${receiver.url}/{{ data.v }}/orders/{{ event.v }}?for={{ v }}&limit=1`
  const row = await begin(url, hostile)
  const encoded = '%2F..%2Fadmin%3Fkey%3D1%26all%3Dyes%23x%0D%0A%C3%BC'
  const sent = `/${encoded}/orders/${encoded}?for=${encoded}&limit=1`
  assert.equal(receiver.received[0]?.url, new URL(receiver.url).pathname + sent)
  assert.deepEqual(
    [row.status, row.output?.url, row.input?.url],
    ['COMPLETED', receiver.url + sent, receiver.url + sent],
  )
  assert.equal((await begin('{{ data.v }}', `${receiver.url}/a?b=c&d=%20`)).status, 'COMPLETED')
  assert.equal(receiver.received[1]?.url.endsWith('/a?b=c&d=%20'), true)

  const up = await begin(`${receiver.url}/a/{{ data.v }}/orders`, '..')
  assert.equal(up.status, 'FAILED')
  assert.match(up.error ?? '', /a value makes "\." or "\.\." a part of the path of the url/)
  assert.equal(up.output?.url, `${receiver.url}/a/{{ data.v }}/orders`)
  const long = await begin(`${receiver.url}/{{ data.v }}`, 'x'.repeat(9_000))
  assert.match(long.error ?? '', /url/)
  assert.equal(receiver.received.length, 2)
})

test('templates that take too long fail their step', async (t) => {
  const stage = await openRequests(t)
  Object.assign(stage.core.outbound, { renderTexts: async () => 'too heavy' })
  const begun = await stage.begin({ url: 'http://127.0.0.1/{{ x }}', method: 'POST' })
  const row = await stage.until(begun, hasEnded)
  assert.equal(row.status, 'FAILED')
  assert.match(row.error ?? '', /too much time or memory/)
})

test('templates are rendered in the turn of their project', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const owners: object[] = []
  const renderTexts = async () => {
    owners.push(currentOwner())
    return [receiver.url]
  }
  Object.assign(stage.core.outbound, { renderTexts })
  const other = await addProject(stage.core)
  const config = { url: '{{ x }}', method: 'POST' as const }
  const mine = await stage.begin(config)
  await stage.until(mine, hasEnded)
  const theirs = await stage.begin(config, { projectId: other.id })
  await stage.until(theirs, hasEnded)
  assert.deepEqual(owners, [
    { key: stage.projectId, isJob: true },
    { key: other.id, isJob: true },
  ])
})

test('the message is stored before the first attempt', async (t) => {
  const stage = await openRequests(t)
  const receiver = await startReceiver(t)
  const stored = Promise.withResolvers<unknown>()
  receiver.answer = async (response) => {
    const [row] = await stage.core.store.read.select().from(workflowRequests)
    stored.resolve(row?.request)
    response.end()
  }
  const begun = await stage.begin({ url: `${receiver.url}/{{ name }}`, method: 'GET' })
  await stage.until(begun, hasEnded)
  assert.deepEqual(await stored.promise, {
    ...{ url: `${receiver.url}/Ann`, method: 'GET', body: null },
    headers: { 'content-type': 'application/json', 'user-agent': 'Pillarbox-Webhooks' },
  })
})

test('a response is shown as JSON or as text; what could not be written again stays text', () => {
  assert.deepEqual(parseResponse(Buffer.from('{"a":1}')), { a: 1 })
  assert.equal(parseResponse(Buffer.from('<p>no</p>')), '<p>no</p>')
  assert.equal(parseResponse(Buffer.from('')), '')
  const deep = '['.repeat(30_000)
  assert.equal(parseResponse(Buffer.from(deep + ']'.repeat(30_000))), deep + ']'.repeat(30_000))
  // Brackets within texts are no depth, in either direction.
  const hidden = `{"log":"${']'.repeat(20_000)}","d":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  assert.equal(parseResponse(Buffer.from(hidden)), hidden)
  const flat = { log: '['.repeat(200) }
  assert.deepEqual(parseResponse(Buffer.from(JSON.stringify(flat))), flat)
})

async function addressOf(
  { core }: Awaited<ReturnType<typeof openRequests>>,
  id: string,
): Promise<string> {
  const [row] = await core.store.read.select().from(contacts).where(eq(contacts.id, id))
  return row?.address ?? ''
}
