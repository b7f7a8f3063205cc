/** Renewals by the word of the authority (RFC 9773), against one in this process and a clock of the test. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/base/clock.ts'
import { startCertificateOrders } from '../../../../src/features/operation/acme/certificate-orders.ts'
import { createChallenges } from '../../../../src/features/operation/acme/challenges.ts'
import { findCurrent } from '../../../../src/features/operation/acme/folder.ts'
import { certificateId, renewalOf } from '../../../../src/features/operation/acme/renewal.ts'
import { openTestCore, START } from '../../../core.ts'
import { type Answer, createAuthority, idOf, problem, textOf } from '../../../fakes/authority.ts'
import { makeCertificate } from '../../../fakes/certificate.ts'

const iso = (at: number) => new Date(at).toISOString()
const suggest = (from: number, to: number, headers = {}): Answer => ({
  status: 200,
  headers,
  body: { suggestedWindow: { start: iso(from), end: iso(to) } },
})

/** Ordering with a first certificate, of 90 days. */
async function open(t: TestContext, renewal: (id: string) => Answer) {
  const challenges = createChallenges()
  const core = await openTestCore(t, {
    settings: {
      PILLARBOX_ACME__EMAIL: 'ops@example.test',
      PILLARBOX_ACME__DOMAINS: '["mail.example.test"]',
      PILLARBOX_ACME__DIRECTORY_URL: 'https://acme.example.test/directory',
    },
    certificatePollMs: 1e9,
  })
  const { clock } = core
  const authority = createAuthority({ now: core.now, findAnswer: challenges.find })
  authority.renewal = renewal
  const ordering = startCertificateOrders(
    { ...core, acmeChallenges: challenges },
    {
      http: {
        request: async ({ url, method = 'GET', body = '' }) => {
          const answer = await authority.request({ method, url: url.href, body: String(body) })
          const { status, headers = {} } = answer
          return {
            ...{ kind: 'response', url, status, headers, isCut: false },
            body: Buffer.from(textOf(answer)),
          }
        },
      },
      wait: async () => undefined,
      random: () => 0.5,
    },
  )
  assert.ok(ordering !== null)
  t.after(() => ordering.stop())
  await ordering.turn()
  const current = await findCurrent(core.config.acme!.folder)
  assert.equal(authority.orders.length, 1)
  return {
    authority,
    core,
    certificate: current!.certificate,
    asked: () => authority.steps.filter((step) => step === 'renewal').length,
    /** Looks at this time; how many orders there are now. */
    at: async (time: number) => {
      clock.now = time
      await ordering.turn()
      return authority.orders.length
    },
  }
}

test('the identifier of a certificate is that of the example of RFC 9773', () => {
  const { cert } = makeCertificate(['example.test'], {
    serial: Buffer.from('0087654321', 'hex'),
    authorityKey: Buffer.from('69885b6b87464041e1b37b847ba0ae2cde01c8d4', 'hex'),
  })
  assert.equal(certificateId(new X509Certificate(cert)), 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE')
  const { cert: without } = makeCertificate(['example.test'])
  assert.equal(certificateId(new X509Certificate(without)), undefined)
})

test('a certificate is renewed in the window that the authority suggests, and names the one it replaces', async (t) => {
  const [from, to] = [START + 5 * DAY_MS, START + 6 * DAY_MS]
  const ids: string[] = []
  const { at, authority } = await open(t, (id) => {
    ids.push(id)
    return suggest(from, to)
  })
  const first = idOf(authority.orders[0]!.chain)
  assert.equal(await at(from - MINUTE_MS), 1, 'not before the window')
  assert.equal(await at(to), 2)
  assert.equal(authority.orders[1]?.replaces, first)
  assert.equal(authority.orders[0]?.replaces, undefined)
  assert.deepEqual([...new Set(ids)][0], first)
  assert.deepEqual([...authority.accounts].length, 1)
})

test('a window after two thirds of the life does not postpone the renewal', async (t) => {
  const { at, certificate } = await open(t, () => suggest(START + 80 * DAY_MS, START + 81 * DAY_MS))
  assert.equal(await at(renewalOf(certificate) - MINUTE_MS), 1)
  assert.equal(await at(renewalOf(certificate)), 2)
})

const broken: Record<string, Answer> = {
  'an error': problem(500, 'serverInternal'),
  'no such resource': { status: 404 },
  'a redirect': { status: 302, headers: { location: 'https://elsewhere.test/' } },
  'no JSON': { status: 200, body: '<html>' },
  'no window': { status: 200, body: { suggestedWindow: null } },
  'another type': { status: 200, body: { suggestedWindow: ['2026', '2027'] } },
  'a list': { status: 200, body: [] },
  'no times': { status: 200, body: { suggestedWindow: { start: 'x', end: {} } } },
  'an end before its start': suggest(START + DAY_MS, START),
  'an empty window': suggest(START, START),
  'a Retry-After that is no time': suggest(START + DAY_MS, START, { 'retry-after': 'soon' }),
}

for (const [name, answer] of Object.entries(broken)) {
  test(`two thirds of the life hold beside a wrong answer: ${name}`, async (t) => {
    const { at, asked, certificate } = await open(t, () => answer)
    for (let day = 1; day < 60; day += 7) assert.equal(await at(START + day * DAY_MS), 1)
    assert.ok(asked() > 1, 'it is asked again')
    assert.equal(await at(renewalOf(certificate) - 1), 1)
    assert.equal(await at(renewalOf(certificate)), 2)
  })
}

test('an authority that always wants a renewal at once gets one a day at most', async (t) => {
  const { at } = await open(t, () => suggest(0, 1, { 'retry-after': '0' }))
  let orders = 0
  for (let hour = 1; hour <= 72; hour += 1) orders = await at(START + hour * HOUR_MS)
  assert.ok(orders >= 3 && orders <= 4, String(orders))
})

test('the authority is asked again when it says, within ten minutes and a day', async (t) => {
  let wait = '3600'
  const far = START + 50 * DAY_MS
  const { at, asked } = await open(t, () => suggest(far, far + 1, { 'retry-after': wait }))
  await at(START + MINUTE_MS)
  const before = asked()
  await at(START + HOUR_MS)
  assert.equal(asked(), before)
  wait = '0'
  const second = START + HOUR_MS + 2 * MINUTE_MS
  await at(second)
  assert.equal(asked(), before + 1)
  wait = '99999999'
  await at(second + 10 * MINUTE_MS - 1)
  assert.equal(asked(), before + 1, 'not within ten minutes')
  const third = second + 10 * MINUTE_MS
  await at(third)
  assert.equal(asked(), before + 2)
  await at(third + DAY_MS - 1)
  assert.equal(asked(), before + 2)
  await at(third + DAY_MS)
  assert.equal(asked(), before + 3, 'a year is too long')
})

test('a certificate that was replaced already, but lost, is ordered again without naming it', async (t) => {
  const [from, to] = [START + 5 * DAY_MS, START + 6 * DAY_MS]
  const { at, authority } = await open(t, () => suggest(from, to))
  // The order succeeds at the authority, and its answer is lost.
  authority.onDone = (step) => {
    if (step === 'finalize') throw new Error('the connection was cut')
  }
  assert.equal(await at(to), 2)
  assert.notEqual(authority.orders[1]?.chain, null)
  authority.onDone = () => undefined
  assert.equal(await at(to + MINUTE_MS), 2, 'not within the back-off')
  assert.equal(await at(to + HOUR_MS), 3)
  assert.equal(authority.orders[2]?.replaces, undefined)
  assert.notEqual(authority.orders[2]?.chain, null)
})
