/**
 * Starts, runs and shows the job that verifies a list of addresses. The job changes no contact. It queries
 * DNS once per domain, for a few domains at a time in turns with other projects, and lets other work run in
 * between, even if the answers come fast. Every few seconds it saves the result so far with its position in
 * the list, so that a resumed run continues after the last saved page and counts no address twice.
 */
import { setImmediate } from 'node:timers/promises'
import { createLru } from '../../../../base/lru.ts'
import type { Verification } from '../../../../records/verification.ts'
import { listOf, unindexed } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { isCancelled } from '../../../../work/jobs/cancelled.ts'
import { loadProgress, saveProgress } from '../../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import { findJobStatus, type JobStatus } from '../../../../work/jobs/status.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import type { Condition } from '../../../ground/conditions/condition.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import { type BulkSelection, checkSelection } from '../../contacts/bulk/bulk-job.ts'
import { countContacts } from '../../contacts/list/count.ts'
import type { ContactScope } from '../../contacts/list/scope.ts'
import { walkContacts } from '../../contacts/list/walk.ts'
import {
  assessAddress,
  assessDomain,
  assessMalformed,
  type DomainAssessment,
  readVerifiableAddress,
} from '../assess.ts'
import { findDomainFacts } from '../domain-facts.ts'
import type { Verifier } from '../verifier.ts'
import { addResults, EMPTY_RESULT, type ListResult, type VerifiedAddress } from './result.ts'

/** The addresses to verify: given as such, or those of contacts given by id or by a query. */
export type ListSelection<RawCondition = Condition> =
  | { mode: 'emails'; emails: readonly string[] }
  | BulkSelection<RawCondition>

/** The payload of the job; its status shows it. */
type ListPayload = ListSelection & { projectId: string }

export const LIST_JOB_KIND = 'verify-list'

/** The number of addresses that one request may give. */
export const MAX_VERIFIED_ADDRESSES = 10_000

/**
 * The number of attempts of a job that fails, for instance because the database cannot be written.
 */
const MAX_ATTEMPTS = 5

type StartDeps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

type Deps = Pick<Base, 'store' | 'now'> & { verifier: Verifier }

type VerificationProgress = ListRange & { after: number; result: ListResult }

/** Assesses a domain, once for all of its addresses. */
type AssessOnce = (domain: string) => Promise<DomainAssessment>

/** The number of domains whose assessment is cached while the job runs. */
const MAX_CACHED = 50_000
const SAVE_EVERY_MS = 2_000

type ListedAddress = { text: string; contactId: string | null }

type ListPage = {
  addresses: ListedAddress[]
  /** Number of ids without a contact. */
  missing: number
  /**
   * The position after the page: the number of its last contact or, for a list, the count of
   * entries done so far.
   */
  end: number
}

/** The limits of a walk, so that the job ends in a project that keeps growing. */
type ListRange = {
  startedAt: number
  /** The approximate number of addresses. */
  total: number
  /** The number of the newest contact. */
  last: number
}

type AddressDeps = Pick<Base, 'store' | 'now'>

const PAGE = 200

const selectLast = statement<{ last: number | null }>(
  () => sql`select max(number) as last from contacts`,
)

/** Finds each contact by its id, not by the index of the project. */
const selectByIds = statement<{ id: string; address: string }>(
  () => sql`select id, email as address from contacts where ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    and id in ${listOf(parameter('ids'))}`,
)

type VerificationWalk = { after: number; last: number; excluded: ReadonlySet<string> }

/**
 * Checks the selection and enqueues the job. Returns the id of the job. `condition` is the
 * condition of the request, not parsed yet.
 * @throws AppError VALIDATION_ERROR for an invalid condition; BAD_REQUEST for a condition that
 *   refers to an unknown segment; CONFLICT when the project has too many unfinished jobs of this
 *   kind
 */
export async function startListVerification(
  deps: StartDeps,
  {
    projectId,
    selection,
    userId,
  }: { projectId: string; selection: ListSelection<unknown>; userId?: string | null },
): Promise<string> {
  const checked: ListSelection =
    selection.mode === 'emails' ? selection : await checkSelection(deps, projectId, selection)
  const payload: ListPayload = { projectId, ...checked }
  const job = { kind: LIST_JOB_KIND, projectId, userId, payload, maxAttempts: MAX_ATTEMPTS }
  return deps.store.write((tx) => {
    tx.afterCommit(() => deps.jobNotifier.notify())
    return enqueueForProject(tx, { prefix: 'verify', ...job, now: deps.now() })
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
export function findListStatus(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, jobId }: { projectId: string; jobId: string },
): Promise<JobStatus> {
  return findJobStatus(deps, { projectId, id: jobId, kinds: [LIST_JOB_KIND] })
}

export async function runListVerification(deps: Deps, job: RunningJob): Promise<ListResult> {
  const payload = job.payload as ListPayload
  let progress = (await loadProgress<VerificationProgress>(deps.store.read, job.id)) ?? {
    ...(await measureAddressList(deps, payload)),
    after: 0,
    result: EMPTY_RESULT,
  }
  let savedAt = deps.now()
  const assessOnce = createDomainAssessor(deps, job.signal)
  try {
    for await (const { addresses, missing, end } of pagesOfList(deps, payload, progress)) {
      await setImmediate()
      job.signal.throwIfAborted()
      const listed = await Promise.all(addresses.map((one) => verifyOne(one, assessOnce)))
      const result = addResults(progress.result, listed)
      const notFound = result.notFound + missing
      progress = { ...progress, after: end, result: { ...result, notFound } }
      if (deps.now() - savedAt < SAVE_EVERY_MS) continue
      savedAt = deps.now()
      await save(deps, job, progress)
    }
  } catch (error) {
    // What was found stays, also between two saves.
    if (isCancelled(job)) await save(deps, job, progress)
    throw error
  }
  await save(deps, job, progress)
  return progress.result
}

async function save(
  { store, now }: Deps,
  job: RunningJob,
  progress: VerificationProgress,
): Promise<void> {
  const { total, result } = progress
  const done = result.total + result.notFound
  const percent = total === 0 ? 99 : Math.min(99, (100 * done) / total)
  const count = { done, total }
  await store.write((tx) => saveProgress(tx, job, { state: progress, percent, count, at: now() }))
}

/** Assesses each domain once; stops when the job is aborted. */
function createDomainAssessor({ verifier }: Deps, signal: AbortSignal): AssessOnce {
  const cache = createLru<Promise<DomainAssessment>>(MAX_CACHED)
  return (domain) => {
    const before = cache.get(domain)
    if (before !== undefined) return before
    const assess = async () => {
      signal.throwIfAborted()
      const facts = await findDomainFacts(verifier.listDns, { domain, withWebsite: false })
      const assessment = assessDomain({ domain, facts, traits: await verifier.lists.load() })
      await setImmediate()
      return assessment
    }
    const assessment = verifier.listTurns.take(assess)
    cache.set(domain, assessment)
    return assessment
  }
}

async function verifyOne(
  { text, contactId }: ListedAddress,
  assessOnce: AssessOnce,
): Promise<VerifiedAddress> {
  const read = readVerifiableAddress(text)
  if (read === undefined) {
    return toListed(assessMalformed(text), { contactId, state: 'invalid', cause: 'malformed' })
  }
  const assessment = await assessOnce(read.address.domain)
  const verification = assessAddress({ ...read, assessment })
  const { kind } = assessment.facts
  if (kind === 'unknown')
    return toListed(verification, { contactId, state: 'unknown', cause: null })
  if (verification.valid) return toListed(verification, { contactId, state: 'valid', cause: null })
  const cause = kind === 'missing' ? 'domain-missing' : 'no-mx'
  return toListed(verification, { contactId, state: 'invalid', cause })
}

function toListed(
  { valid, hasWebsite, email, ...verification }: Verification,
  { contactId, state, cause }: Pick<VerifiedAddress, 'contactId' | 'state' | 'cause'>,
): VerifiedAddress {
  return { email, contactId, state, cause, ...verification }
}

async function measureAddressList(deps: AddressDeps, payload: ListPayload): Promise<ListRange> {
  const startedAt = deps.now()
  if (payload.mode === 'emails') return { startedAt, total: payload.emails.length, last: 0 }
  if (payload.mode === 'ids') return { startedAt, total: payload.contactIds.length, last: 0 }
  const row = await deps.store.read.find(selectLast, {})
  const total = await countContacts(deps, await toScope(deps, payload, startedAt))
  return { startedAt, total, last: row?.last ?? 0 }
}

/** Yields the pages after `after`, the `end` of a previous page. */
async function* pagesOfList(
  deps: AddressDeps,
  payload: ListPayload,
  { after, startedAt, last }: Pick<ListRange, 'startedAt' | 'last'> & { after: number },
): AsyncGenerator<ListPage> {
  if (payload.mode === 'query') {
    const scope = await toScope(deps, payload, startedAt)
    yield* pagesOfScope(deps, scope, { after, last, excluded: new Set(payload.excludeIds) })
    return
  }
  const entries = payload.mode === 'emails' ? payload.emails : payload.contactIds
  for (let at = after; at < entries.length; at += PAGE) {
    const some = entries.slice(at, at + PAGE)
    const found =
      payload.mode === 'emails'
        ? some.map((text) => ({ text, contactId: null }))
        : await findByIds(deps, payload.projectId, some)
    yield { addresses: found, missing: some.length - found.length, end: at + some.length }
  }
}

async function* pagesOfScope(
  deps: AddressDeps,
  scope: ContactScope,
  { after, last, excluded }: VerificationWalk,
): AsyncGenerator<ListPage> {
  for await (const page of walkContacts(deps, scope, { after, size: PAGE })) {
    const end = page.at(-1)?.number ?? last
    const meant = page.filter(({ number, id }) => number <= last && !excluded.has(id))
    const addresses = meant.map(({ id, address }) => ({ text: address, contactId: id }))
    yield { addresses, missing: 0, end }
    if (end >= last) return
  }
}

async function findByIds(
  { store }: AddressDeps,
  projectId: string,
  ids: readonly string[],
): Promise<ListedAddress[]> {
  const rows = await store.read.list(selectByIds, { projectId, ids: JSON.stringify(ids) })
  const addresses = new Map(rows.map(({ id, address }) => [id, address]))
  return ids.flatMap((id) => {
    const text = addresses.get(id)
    return text === undefined ? [] : [{ text, contactId: id }]
  })
}

async function toScope(
  { store }: AddressDeps,
  { projectId, filter }: ListPayload & { mode: 'query' },
  startedAt: number,
): Promise<ContactScope> {
  const { condition, ...scope } = filter
  if (condition === undefined) return { projectId, ...scope }
  const deps = { store, now: () => startedAt }
  return { projectId, ...scope, condition: await compileCondition(deps, { projectId, condition }) }
}
