/**
 * The job behind the verification of a list. Each domain is looked up and judged once, a few at a
 * time, and others have their turn in between, however fast the answers come. What has been found out is saved every few seconds with the place it goes up to, so that a run which
 * takes over goes on there and counts nothing twice.
 */
import { setImmediate as othersTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { loadProgress, saveProgress } from '../../../jobs/progress.ts'
import type { RunningJob } from '../../../jobs/run.ts'
import { parseAddress } from '../../../mail/address/address.ts'
import { createSemaphore } from '../../../outbound/semaphore.ts'
import type { Base } from '../../base.ts'
import {
  assessAddress,
  assessDomain,
  assessMalformed,
  type DomainAssessment,
  type Verification,
} from '../assess.ts'
import { findDomainFacts } from '../domain-facts.ts'
import type { Verifier } from '../verifier.ts'
import { type ListedAddress, type ListRange, measureList, pagesOfList } from './addresses.ts'
import { addResults, EMPTY_RESULT, type Listed, type ListResult } from './result.ts'
import type { ListPayload } from './start.ts'

type Deps = Pick<Base, 'store' | 'now'> & { verifier: Verifier }

type Progress = ListRange & { after: number; result: ListResult }

/** Who is told what of each domain. */
type FindVerdict = (domain: string) => Promise<DomainAssessment>

/** No more of a job wait for their turn, so that jobs share it evenly. */
const DOMAINS_AT_ONCE = 16
/** Of domains, what is remembered for as long as the job runs. */
const MAX_REMEMBERED = 50_000
const SAVE_EVERY_MS = 2_000

export async function runListVerification(deps: Deps, job: RunningJob): Promise<ListResult> {
  const order = job.payload as ListPayload
  let progress = (await loadProgress<Progress>(deps.store.read, job.id)) ?? {
    ...(await measureList(deps, order)),
    after: 0,
    result: EMPTY_RESULT,
  }
  let savedAt = deps.now()
  const findVerdict = createFinder(deps, job.signal)
  for await (const { addresses, missing, end } of pagesOfList(deps, order, progress)) {
    await othersTurn()
    job.signal.throwIfAborted()
    const listed = await Promise.all(addresses.map((one) => judge(one, findVerdict)))
    const result = addResults(progress.result, listed)
    const notFound = result.notFound + missing
    progress = { ...progress, after: end, result: { ...result, notFound } }
    if (deps.now() - savedAt < SAVE_EVERY_MS) continue
    savedAt = deps.now()
    await save(deps, job, progress)
  }
  job.signal.throwIfAborted()
  return progress.result
}

async function save({ store, now }: Deps, job: RunningJob, progress: Progress): Promise<void> {
  const { total, result } = progress
  const done = result.total + result.notFound
  const percent = total === 0 ? 99 : Math.min(99, (100 * done) / total)
  await store.write((tx) => saveProgress(tx, job, { state: progress, percent, at: now() }))
}

/** Judges each domain once, and no more when the job is to end. */
function createFinder({ verifier }: Deps, signal: AbortSignal): FindVerdict {
  const asked = new LRUCache<string, Promise<DomainAssessment>>({ max: MAX_REMEMBERED })
  const limiter = createSemaphore({ atOnce: DOMAINS_AT_ONCE, waiting: Number.POSITIVE_INFINITY })
  return (domain) => {
    const before = asked.get(domain)
    if (before !== undefined) return before
    const ask = async () => {
      signal.throwIfAborted()
      const facts = await findDomainFacts(verifier.listDns, { domain, withWebsite: false })
      const verdict = assessDomain({ domain, facts, known: await verifier.lists.load() })
      await othersTurn()
      return verdict
    }
    const verdict = limiter.take(() => verifier.listLimiter.take(ask))
    asked.set(domain, verdict)
    return verdict
  }
}

async function judge(
  { text, contactId }: ListedAddress,
  findVerdict: FindVerdict,
): Promise<Listed> {
  const address = parseAddress(text)
  if (address === undefined) {
    return toListed(assessMalformed(text), { contactId, state: 'invalid', cause: 'malformed' })
  }
  const verdict = await findVerdict(address.domain)
  const verification = assessAddress({ text, address, verdict })
  const { kind } = verdict.facts
  if (kind === 'unknown')
    return toListed(verification, { contactId, state: 'unknown', cause: null })
  if (verification.valid) return toListed(verification, { contactId, state: 'valid', cause: null })
  const cause = kind === 'missing' ? 'domain-missing' : 'no-mx'
  return toListed(verification, { contactId, state: 'invalid', cause })
}

function toListed(
  { valid, hasWebsite, email, ...verification }: Verification,
  { contactId, state, cause }: Pick<Listed, 'contactId' | 'state' | 'cause'>,
): Listed {
  return { email, contactId, state, cause, ...verification }
}
