/**
 * Calls every route as everybody who may read something of the project that sends the server's mail to
 * its users. Neither the links nor the texts of that mail are in an answer, whatever its state.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { ROUTES } from '../../src/http/route-table.ts'
import { eq } from '../../src/store/drizzle.ts'
import { users } from '../../src/store/schema/accounts.ts'
import { events } from '../../src/store/schema/events.ts'
import { emails } from '../../src/store/schema/messages.ts'
import { trustDomain } from '../core.ts'
import {
  findNeedles,
  KINDS,
  type Written,
  writeEveryKind,
} from '../features/tenancy/accounts/platform-mail/every-kind.ts'
import { addMember, addUser, logIn } from '../session.ts'
import { setEmails } from '../set-emails.ts'
import { match } from './example-match.ts'
import { createExampleDns, exampleOptions } from './example-preparations.ts'
import { contentOf, createExampleRunner, type Headers } from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import { useService } from './service.ts'

const dns = createExampleDns()
const written: Written[] = []
const started = useService(exampleOptions(dns), async ({ service: { core }, mine }) => {
  await trustDomain(core, mine.id, 'platform.test')
  core.config.accounts.mailProject = mine.id
  core.config.accounts.mailFrom = 'accounts@platform.test'
  written.push(...(await writeEveryKind(core)), ...(await writeEveryKind(core)))
  // One of each kind is final, and none is in the queue of a domain that the examples use.
  for (const { emailId } of written.slice(KINDS.length)) {
    const done = {
      state: 'delivered',
      status: 'DELIVERED',
      dueAt: null,
      sealedVariables: null,
      sentAt: core.now(),
    } as const
    await core.store.write((tx) => setEmails(tx, done, eq(emails.id, emailId)))
  }
})
const { service, mine } = started

const needles = () => written.flatMap((one) => one.needles)

/** Those who may read the data of the project, and an operator. */
async function listCallers(): Promise<Record<string, Headers>> {
  const { core } = service
  const callers: Record<string, Headers> = {
    'the secret key': { authorization: `Bearer ${mine.secret}` },
  }
  for (const role of ['MEMBER', 'ADMIN'] as const) {
    const { id } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId: id, role })
    callers[role] = { cookie: await logIn(core, id), 'x-project-id': mine.id }
  }
  const operator = await addUser(core)
  await core.store.write((tx) =>
    tx.update(users).set({ isOperator: true }).where(eq(users.id, operator.id)),
  )
  callers.operator = { cookie: await logIn(core, operator.id), 'x-project-id': mine.id }
  return callers
}

/** The rows that a path may name, of one mail that waits and one that is final. */
async function listIds(): Promise<string[]> {
  const { read } = service.core.store
  const ids = [mine.id]
  for (const { emailId } of [written[1], written[KINDS.length + 1]].map((one) => one as Written)) {
    const email = await read.select().from(emails).where(eq(emails.id, emailId)).get()
    ids.push(emailId, email?.contactId ?? '')
  }
  const event = await read.select().from(events).limit(1).get()
  return [...ids, event?.id ?? '', 'email.sent'].filter((id) => id !== '')
}

/** The lists of this project have more than those of the examples: what matches has taught its ids. */
function learnIds(learn: () => void): void {
  try {
    learn()
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw error
  }
}

/** With the octets of the answer; it takes half of what fetch does. */
async function read(url: string, headers: Headers): Promise<{ status: number; octets: Buffer }> {
  const [answer] = (await once(get(new URL(url, service.url), { headers }), 'response')) as [
    IncomingMessage,
  ]
  return { status: Number(answer.statusCode), octets: Buffer.concat(await answer.toArray()) }
}

const LISTS = ['/emails', '/activity', '/events', '/contacts'] as const

describe('mail of the server to its users', () => {
  it('S30: is in no answer to a caller who reads', async () => {
    const ids = await listIds()
    const hidden = needles()
    const statuses = new Map<string, number>()
    for (const [caller, headers] of Object.entries(await listCallers())) {
      for (const [method, path] of ROUTES) {
        if (method !== 'GET' || path === '/auth/logout') continue
        const urls = path.includes(':')
          ? ids.map((id) => path.replaceAll(/:\w+/g, encodeURIComponent(id)))
          : [path, `${path}?limit=100&search=user`]
        for (const url of urls) {
          const { status, octets } = await read(url, headers)
          assert.deepEqual(findNeedles(octets, hidden), [], `${caller} ${url}`)
          statuses.set(`${caller} ${url}`, status)
        }
      }
    }
    for (const path of LISTS) assert.equal(statuses.get(`MEMBER ${path}`), 200, path)
    const emailId = written[1]?.emailId
    assert.equal(statuses.get(`MEMBER /emails/${emailId}`), 200)
    assert.equal(statuses.get(`the secret key /emails/${emailId}/raw`), 403)
  })

  it('S30: is in no preview, not even of a template like that of its content', async () => {
    const contact = await service.core.store.read
      .select({ email: emails.recipient })
      .from(emails)
      .where(eq(emails.id, written[1]?.emailId ?? ''))
      .get()
    for (const body of ['{{ html }}', '{{ text }} {{ subject }}', '{{ request.text }}']) {
      const answer = await supertest(service.url)
        .post('/render')
        .set('Authorization', `Bearer ${mine.secret}`)
        .send({ subject: 'x', body, email: contact?.email })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(findNeedles(answer.text, needles()), [], body)
    }
  })

  it('S30: is not sent again once it is final, and its recipient asks for a new link', async () => {
    const final = written.slice(KINDS.length)
    for (const state of ['delivered', 'relayed', 'bounced', 'failed', 'suppressed'] as const) {
      const { emailId = '' } = final[1] ?? {}
      await service.core.store.write((tx) => setEmails(tx, { state }, eq(emails.id, emailId)))
      const { status, body } = await supertest(service.url)
        .post(`/emails/${emailId}/retry`)
        .set('Authorization', `Bearer ${mine.secret}`)
      assert.deepEqual([status, body.error?.code], [409, 'CONFLICT'], state)
      assert.match(body.error.suggestion, /new link/, state)
      const { body: shown } = await started.call('get', `/emails/${emailId}`)
      assert.deepEqual([shown.body, shown.text], [null, null])
    }
  })

  it('S30: is in no answer of an example', async () => {
    const { bindings, prepare } = createExampleRunner(started, dns)
    let answered = 0
    for (const step of exampleSequence) {
      const { example, credentials, send } = await prepare(step)
      const answer = await send(credentials)
      if (answer.status === example.status) {
        answered += 1
        learnIds(() => match(example.response, contentOf(answer), bindings))
      }
      const text = answer.text ?? JSON.stringify(answer.body)
      assert.deepEqual(findNeedles(text, needles()), [], step.name)
    }
    assert.ok(answered > exampleSequence.length * 0.9, `${answered}`)
  })
})
