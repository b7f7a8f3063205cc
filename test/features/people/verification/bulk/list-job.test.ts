/** Verification of lists: counts and stored results; a crash counts nothing twice. */
import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { createSchedule } from '../../../../../src/core/areas.ts'
import type { Core } from '../../../../../src/core/core.ts'
import {
  findListStatus,
  type ListSelection,
  runListVerification,
  startListVerification,
} from '../../../../../src/features/people/verification/bulk/list-job.ts'
import {
  addResults,
  EMPTY_RESULT,
  type ListResult,
  MAX_RESULTS,
  type VerifiedAddress,
} from '../../../../../src/features/people/verification/bulk/result.ts'
import { createVerifier } from '../../../../../src/features/people/verification/verifier.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { jobs } from '../../../../../src/store/schema/jobs.ts'
import { runFor } from '../../../../../src/turns/owner.ts'
import { startJobs } from '../../../../../src/work/jobs/jobs.ts'
import { addProject, openTestCore, type TestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'
import { PATIENCE_MS } from '../../../../patience.ts'
import { pause } from '../../../../pause.ts'
import { claimJob } from '../../../../work/jobs/running.ts'
import { addContacts } from '../../contacts/add-contacts.ts'

const mail = { MX: [[10, 'mx.dest.test']] as [number, string][] }

const cleanup = cleanUpAfterFile()
let shared: TestCore

before(async () => {
  shared = await openTestCore(cleanup)
  const { dns } = shared
  for (const name of ['dest.test', 'gmail.com', 'mailinator.com']) dns.set(name, mail)
  dns.set('broken.test', 'SERVFAIL')
  dns.set('null.test', { MX: [[0, '']] })
})

/** A project in the one core, where no job waits and nothing has been asked yet. */
async function setUp(t: TestContext) {
  const { config, now, log, store, dns } = shared
  const options = { dnsServers: config.dns.servers, dataDir: config.dataDir, now, log }
  const verifier = createVerifier({ ...options, timeoutMs: PATIENCE_MS })
  t.after(verifier.stop)
  dns.queries.length = 0
  await store.write((tx) => tx.delete(jobs).run())
  const core: TestCore = { ...shared, verifier }
  const { id: projectId } = await addProject(core)
  const start = (selection: ListSelection<unknown>) =>
    startListVerification(core, { projectId, selection })
  return {
    core,
    projectId,
    start,
    async run(selection: ListSelection<unknown>): Promise<ListResult> {
      await start(selection)
      const job = await claimJob(core, 'verify-list')
      const result = await runListVerification(core, job)
      await store.write((tx) => tx.delete(jobs).run())
      return result
    },
  }
}

const summaryOf = ({ results, resultsOmitted, ...summary }: ListResult) => summary
const { results, resultsOmitted, ...EMPTY_SUMMARY } = EMPTY_RESULT

test('a list is counted by result, and shows the result of each address', async (t) => {
  const { run, core } = await setUp(t)
  const emails = [
    'ada@dest.test',
    'Bob+shop@Dest.test',
    'bob+shop@dest.test',
    'no address',
    'eve@gone.test',
    'eve@null.test',
    'eve@broken.test',
    'joe@gmail.com',
    'joe@gmail.con',
    'x@mailinator.com',
  ]
  const result = await run({ mode: 'emails', emails })
  assert.deepEqual(summaryOf(result), {
    ...EMPTY_SUMMARY,
    total: 10,
    valid: 5,
    invalid: 4,
    unknown: 1,
    malformed: 1,
    domainMissing: 2,
    noMx: 1,
    disposable: 1,
    personal: 1,
    typo: 1,
    plusAddressed: 2,
  })
  assert.deepEqual(
    result.results.map(({ email }) => email),
    emails,
  )
  assert.equal(result.resultsOmitted, 0)
  const [ada, , , , eve, , unknown, , typo] = result.results
  assert.deepEqual(ada, {
    email: 'ada@dest.test',
    contactId: null,
    state: 'valid',
    cause: null,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: true,
    hasMxRecords: true,
    reasons: ['The address is well formed and its domain accepts mail'],
  })
  assert.deepEqual([eve?.state, eve?.cause], ['invalid', 'domain-missing'])
  assert.deepEqual(
    [unknown?.state, unknown?.cause, unknown?.reasons],
    ['unknown', null, ['The name servers of broken.test gave no answer']],
  )
  assert.deepEqual([typo?.state, typo?.suggestedEmail], ['invalid', 'joe@gmail.com'])
  const asked = core.dns.queries.map(({ name, type }) => `${type} ${name}`)
  assert.equal(asked.filter((query) => query === 'MX broken.test').length, 2)
  const others = asked.filter((query) => query !== 'MX broken.test')
  assert.equal(new Set(others).size, others.length, 'each domain is looked up once')
  assert.ok(asked.every((query) => query.startsWith('MX ')))
})

test('an address of a list may show itself', async (t) => {
  const { run } = await setUp(t)
  const emails = ['ada@dest.test <Ada@dest.test>', 'Ada <ada@dest.test>']
  const { results } = await run({ mode: 'emails', emails })
  assert.deepEqual(
    results.map(({ email, state, cause }) => [email, state, cause]),
    [
      ['ada@dest.test', 'valid', null],
      ['Ada <ada@dest.test>', 'invalid', 'malformed'],
    ],
  )
})

test('addresses are unknown where the name servers deny everything', async (t) => {
  const { core, run } = await setUp(t)
  const { verifier } = shared
  t.after(() => core.dns.answerAll(undefined))
  core.dns.answerAll('NXDOMAIN')
  core.verifier = verifier
  const result = await run({ mode: 'emails', emails: ['ada@there.test', 'eve@nowhere.test'] })
  assert.deepEqual(summaryOf(result), { ...EMPTY_SUMMARY, total: 2, unknown: 2 })
  assert.deepEqual(
    result.results.map(({ state, cause, domainExists }) => [state, cause, domainExists]),
    [
      ['unknown', null, false],
      ['unknown', null, false],
    ],
  )
})

test('a domain is queried once, for any duration of the job', async (t) => {
  const { core, start } = await setUp(t)
  await start({ mode: 'emails', emails: manyEmails(1_000, () => 'dest.test') })
  const job = await claimJob(core, 'verify-list')
  let at = core.clock.now
  const slow = { ...core, now: () => (at += 60_000) }
  const result = await runListVerification(slow, job)
  assert.equal(result.valid, 1_000)
  assert.equal(core.dns.count('dest.test'), 1)
})

const manyEmails = (count: number, domainOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `a${index}@${domainOf(index)}`)

/** A core whose name servers answer at once: no such domain. Each domain that is judged is told of. */
function withoutWaiting(core: TestCore, judged: (domain: string) => void): TestCore {
  const listDns: Core['resolver'] = {
    ...core.verifier.listDns,
    mx: () => Promise.resolve({ kind: 'nxdomain', expiresAt: 0 }),
  }
  const neverExists = () => false
  const isDisposable = (domain: string) => {
    judged(domain)
    return false
  }
  const lists = {
    load: () => Promise.resolve({ isDisposable, isFree: neverExists, isAlias: neverExists }),
  }
  return { ...core, verifier: { ...core.verifier, listDns, lists } }
}

/** Counts turns of the event loop until `work` is done; `taken` is called at the end of each. */
async function countTurns(work: Promise<unknown>, taken?: () => void): Promise<number> {
  let isOver = false
  const end = work.finally(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns += 1) {
    await new Promise(setImmediate)
    taken?.()
  }
  await end
  return turns
}

test('many addresses of one domain are assessed once, and other work runs in between', async (t) => {
  const { core, start } = await setUp(t)
  await start({ mode: 'emails', emails: manyEmails(10_000, () => 'gmali.test') })
  const job = await claimJob(core, 'verify-list')
  const judged: string[] = []
  const patient = withoutWaiting(core, (domain) => judged.push(domain))
  const turns = await countTurns(runListVerification(patient, job))
  assert.deepEqual(judged, ['gmali.test'])
  assert.ok(turns >= 50, `${turns} turns`)
})

test('domains with instant answers are assessed a few per turn of the event loop', async (t) => {
  const { core, start } = await setUp(t)
  await start({ mode: 'emails', emails: manyEmails(1_000, (index) => `d${index}.test`) })
  const job = await claimJob(core, 'verify-list')
  let inTurn = 0
  let most = 0
  let all = 0
  const patient = withoutWaiting(core, () => {
    inTurn += 1
    all += 1
  })
  await countTurns(runListVerification(patient, job), () => {
    most = Math.max(most, inTurn)
    inTurn = 0
  })
  assert.equal(all, 1_000)
  assert.ok(most <= 32, `${most} in one turn`)
})

test('ids of another project and unknown ids count as not found', async (t) => {
  const { core, run, projectId } = await setUp(t)
  const [ada = '', bob = ''] = await addContacts(core, projectId, [
    { email: 'ada@dest.test' },
    { email: 'bob@gone.test' },
  ])
  const otherProject = await addProject(core, 'Other')
  const [eve = ''] = await addContacts(core, otherProject.id, [{ email: 'eve@dest.test' }])
  const result = await run({ mode: 'ids', contactIds: [bob, newId(), ada, eve, ada] })
  const { total, valid, invalid, notFound } = result
  assert.deepEqual([total, valid, invalid, notFound], [2, 1, 1, 2])
  assert.deepEqual(
    result.results.map(({ email, contactId }) => [email, contactId]),
    [
      ['bob@gone.test', bob],
      ['ada@dest.test', ada],
    ],
  )
})

test('a query selects the matching contacts of its project without the excluded ones', async (t) => {
  const { core, run, projectId } = await setUp(t)
  const addresses = manyEmails(450, (index) => (index % 2 === 0 ? 'dest.test' : 'gone.test'))
  const ids = await addContacts(
    core,
    projectId,
    addresses.map((email, index) => ({
      email,
      subscribed: index < 400,
      data: { plan: index % 3 },
    })),
  )
  const otherProject = await addProject(core, 'Other')
  await addContacts(core, otherProject.id, [{ email: 'eve@dest.test' }])
  const all = await run({ mode: 'query', filter: {}, excludeIds: [] })
  assert.deepEqual([all.total, all.valid, all.invalid], [450, 225, 225])
  assert.deepEqual(
    all.results.map(({ contactId }) => contactId),
    ids,
  )
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 1 }] }],
  }
  const filter = { subscribed: true, search: 'DEST', condition }
  const some = await run({ mode: 'query', filter, excludeIds: [ids[4] ?? ''] })
  const meant = addresses.filter(
    (email, index) => index < 400 && index % 3 === 1 && index !== 4 && email.includes('dest'),
  )
  assert.deepEqual(
    some.results.map(({ email }) => email),
    meant,
  )
  const isMine = eq(contacts.projectId, projectId)
  const rows = await core.store.read.select().from(contacts).where(isMine).all()
  assert.equal(rows.length, 450)
  assert.ok(
    rows.every(({ updatedAt }) => updatedAt === 1),
    'no contact changes',
  )
  assert.deepEqual(await core.store.read.select().from(events).all(), [])
})

test('a long list shows the first thousand noteworthy addresses and counts the others', async (t) => {
  const { run } = await setUp(t)
  const emails = manyEmails(2_600, (index) => (index % 2 === 0 ? 'dest.test' : 'gone.test'))
  const result = await run({ mode: 'emails', emails })
  assert.deepEqual([result.total, result.valid, result.invalid], [2_600, 1_300, 1_300])
  const gone = emails.filter((email) => email.endsWith('gone.test'))
  assert.deepEqual(
    result.results.map(({ email }) => email),
    gone.slice(0, MAX_RESULTS),
  )
  assert.equal(result.resultsOmitted, 300)
})

test('a list of exactly the limit shows all results; one more address makes it long', () => {
  const one = (state: VerifiedAddress['state']): VerifiedAddress => ({
    email: state,
    contactId: null,
    state,
    cause: null,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: true,
    hasMxRecords: true,
    reasons: [],
  })
  const valid = Array.from({ length: MAX_RESULTS }, () => one('valid'))
  const full = addResults(EMPTY_RESULT, valid)
  assert.equal(full.results.length, MAX_RESULTS)
  const long = addResults(full, [one('unknown')])
  assert.deepEqual(
    [long.results.map(({ email }) => email), long.resultsOmitted, long.valid, long.unknown],
    [['unknown'], 0, MAX_RESULTS, 1],
  )
  assert.equal(EMPTY_RESULT.results.length, 0)
})

test('a run resumes from the saved position and counts nothing twice', async (t) => {
  const { core, start, projectId } = await setUp(t)
  const addresses = manyEmails(1_000, (index) => (index % 4 === 0 ? 'gone.test' : 'dest.test'))
  await addContacts(
    core,
    projectId,
    addresses.map((email) => ({ email })),
  )
  const jobId = await start({ mode: 'query', filter: {}, excludeIds: [] })
  // Every page is saved: each look at the clock is some seconds after the one before.
  const now = () => {
    core.clock.now += 3_000
    return core.clock.now
  }
  // A walk begins with a page of 50, and the next one has 200.
  for (const percent of [25, 50]) {
    const ending = endingAfter(2, { ...core, now })
    await assert.rejects(runListVerification(ending, await claimJob(core, 'verify-list')), /killed/)
    const { progress, state } = await findListStatus(core, { projectId, jobId })
    assert.deepEqual([progress, state], [percent, 'active'])
    await addContacts(core, projectId, [{ email: `late${percent}@dest.test` }])
    core.clock.now += 120_000
  }
  const result = await runListVerification({ ...core, now }, await claimJob(core, 'verify-list'))
  assert.deepEqual([result.total, result.valid, result.invalid], [1_000, 750, 250])
  assert.deepEqual(
    result.results.map(({ email }) => email),
    addresses,
  )
})

/** A core whose process is killed once it has written so often. */
function endingAfter(limit: number, core: Pick<Core, 'store' | 'now' | 'verifier'>) {
  let writes = 0
  const write: Core['store']['write'] = async (fn) => {
    if (writes === limit) throw new Error('killed')
    writes += 1
    return core.store.write(fn)
  }
  const store = { ...core.store, write }
  return { ...core, store }
}

test('an aborted run stops its queries and keeps the saved result', async (t) => {
  const { core, start } = await setUp(t)
  const emails = manyEmails(600, (index) => `d${index}.test`)
  await start({ mode: 'emails', emails })
  const job = await claimJob(core, 'verify-list')
  const { promise: asked, resolve: tellAsked } = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let questions = 0
  const listDns: Core['resolver'] = {
    ...core.verifier.listDns,
    async mx() {
      questions += 1
      tellAsked()
      await held.promise
      return { kind: 'nxdomain', expiresAt: 0 }
    },
  }
  const run = runListVerification({ ...core, verifier: { ...core.verifier, listDns } }, job)
  await asked
  job.abort.abort(new Error('The program is stopping.'))
  held.resolve()
  await assert.rejects(run, /stopping/)
  assert.equal(questions, 16, 'sixteen at once, and none after the end was told')
})

test('S31: the lists of several projects share the limit of one in turns', async (t) => {
  const { core, start, projectId } = await setUp(t)
  const others = [await addProject(core), await addProject(core)]
  const lists = [
    await start({ mode: 'emails', emails: manyEmails(40, (index) => `a${index}.test`) }),
    ...(await Promise.all(
      others.map(({ id }, list) =>
        startListVerification(core, {
          projectId: id,
          selection: { mode: 'emails', emails: [`one@b${list}.test`] },
        }),
      ),
    )),
  ]
  assert.equal(new Set(lists).size, 3)
  const open: (() => void)[] = []
  const asked: string[] = []
  let most = 0
  const listDns: Core['resolver'] = {
    ...core.verifier.listDns,
    async mx(domain) {
      const { promise, resolve } = Promise.withResolvers<void>()
      asked.push(domain)
      most = Math.max(most, open.push(resolve))
      await promise
      return { kind: 'nxdomain', expiresAt: 0 }
    },
  }
  const patient = { ...core, verifier: { ...core.verifier, listDns } }
  const claimed = [await claimJob(core, 'verify-list'), await claimJob(core, 'verify-list')]
  claimed.push(await claimJob(core, 'verify-list'))
  assert.equal(claimed[0]?.projectId, projectId)
  const results: ListResult[] = []
  const runs = claimed.map((job) =>
    runFor({ key: job.projectId ?? '', isJob: true }, async () =>
      results.push(await runListVerification(patient, job)),
    ),
  )
  while (results.length < 3) {
    await new Promise(setImmediate)
    open.shift()?.()
  }
  await Promise.all(runs)
  assert.equal(most, 16)
  assert.equal(asked.length, 42, 'each domain once')
  const last = Math.max(asked.indexOf('b0.test'), asked.indexOf('b1.test'))
  assert.ok(last < 18, 'a project without a look-up is next')
  assert.deepEqual(results.map(({ total }) => total).sort(), [1, 1, 40])
  await core.store.write((tx) => tx.delete(jobs).run())
})

test('the job loop runs three lists at a time, and the status shows the result', async (t) => {
  const { core, start, projectId } = await setUp(t)
  const { handlers, limits } = createSchedule(core)
  assert.equal(limits['verify-list'], 3)
  const { store, log, now, jobNotifier } = core
  const running = startJobs({ store, log, now, handlers, limits })
  t.after(() => running.stop(0))
  t.after(jobNotifier.listen(running.wake))
  const jobId = await start({ mode: 'emails', emails: ['ada@dest.test'] })
  const ask = () => findListStatus(core, { projectId, jobId })
  while ((await ask()).state !== 'completed') await pause()
  const { state, progress, result } = await ask()
  assert.deepEqual([state, progress], ['completed', 100])
  assert.equal((result as ListResult).valid, 1)
})
