/**
 * What the log says while every example of the API is sent to a server, at `info` and at `debug`: no secret, token,
 * subject or body of a request or a response, and at `info` no address. Then each route fails, so that its errors
 * are logged as well.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLog, type LogLevel } from '../../../src/base/log.ts'
import { exampleSequence } from '../example-sequence.ts'
import { walkExamples } from '../example-walk.ts'
import { useService } from '../service.ts'

const PRIVATE_NAME =
  /password|secret|token|^code$|^subject$|^body$|^html$|^text$|^public$|^key$|recoveryCodes|otpauth/i
const ADDRESS = /[\w.+-]+@[\w-]+\.[\w.-]+/g
/** Shorter texts also stand in lines for other reasons. */
const MIN_LENGTH = 8
const FAULT = 'the database of the test is broken'

/** The texts below such names, anywhere in a value. */
function listPrivate(value: unknown, isPrivate = false): string[] {
  if (typeof value === 'string') return isPrivate && value.length >= MIN_LENGTH ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    listPrivate(each, Array.isArray(value) ? isPrivate : isPrivate || PRIVATE_NAME.test(name)),
  )
}

for (const level of ['info', 'debug'] as const satisfies LogLevel[]) {
  describe(`at ${level}, while all examples run`, () => {
    const lines: string[] = []
    const log = createLog(level, { write: (line: string) => lines.push(line) })
    const started = useService({ log })
    const secrets = new Set<string>()
    const addresses = new Set<string>()

    it('each is answered', async () => {
      const walk = await walkExamples()
      lines.push(...walk.lines[level])
      for (const { example, credentials, answer, difference } of walk.steps) {
        if (difference !== undefined) throw difference
        for (const value of [example.request, answer.body, credentials.cookie ?? '']) {
          for (const secret of listPrivate(value)) secrets.add(secret)
          for (const [found] of JSON.stringify(value ?? null).matchAll(ADDRESS))
            addresses.add(found)
        }
        for (const credential of Object.values(credentials)) {
          const [, secret = credential] = /(?:Bearer |=)([^;]+)/.exec(credential) ?? []
          secrets.add(secret)
        }
      }
      assert.ok(secrets.size > 20 && addresses.size > 5)
    })

    it('a request that fails is logged with its id', async () => {
      const { core } = started.service
      const { write } = core.store
      // As drizzle describes a statement that fails.
      core.store.write = () =>
        Promise.reject(new Error(`${FAULT}\nparams: ${[...secrets, ...addresses].join()}`))
      const data = { subject: 'the marked subject', body: 'the marked body' }
      const email = 'marked.person@example.org'
      for (const text of [...Object.values(data), 'the-marked-query']) secrets.add(text)
      addresses.add(email)
      const answer = await started
        .call('post', '/v1/track?token=the-marked-query')
        .set('x-request-id', 'the-request-of-the-test')
        .send({ email, event: 'an-event', data })
      core.store.write = write
      assert.equal(answer.status, 500)
      const line = lines.find((each) => each.includes('the-request-of-the-test'))
      assert.ok(line?.includes(FAULT), line)
    })

    it('no line has a secret, a token, a subject or a body', () => {
      if (level === 'debug') assert.ok(lines.length >= exampleSequence.length)
      const text = lines.join('')
      for (const secret of secrets) assert.ok(!text.includes(secret), secret)
      assert.doesNotMatch(text, /\b(sk|pk|whsec)_\w/)
    })

    it(level === 'info' ? 'no line has an address' : 'each line of a request has its id', () => {
      const text = lines.join('')
      if (level === 'info')
        for (const address of addresses) assert.ok(!text.includes(address), address)
      else {
        const answered = lines.filter((line) => line.includes('"a request was answered"'))
        assert.ok(answered.every((line) => line.includes('"requestId":"')))
      }
    })
  })
}
