/**
 * The job that verifies a list of addresses. It queries DNS once per domain, for a few domains at a
 * time in turns with other projects, and lets other work run in between, even if the answers come fast. It saves the result so
 * far with its position every few seconds, so that a resumed run continues there and counts nothing
 * twice.
 */
import { setImmediate } from 'node:timers/promises'
import { createLru } from '../../../../base/lru.ts'
import type { Verification } from '../../../../records/verification.ts'
import { loadProgress, saveProgress } from '../../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import type { Base } from '../../../ground/base.ts'
import { assessAddress, assessDomain, assessMalformed, type DomainAssessment } from '../assess.ts'
import { findDomainFacts } from '../domain-facts.ts'
import { readAddress } from '../read-address.ts'
import type { Verifier } from '../verifier.ts'
import { type ListedAddress, type ListRange, measureAddressList, pagesOfList } from './addresses.ts'
import { addResults, EMPTY_RESULT, type ListResult, type VerifiedAddress } from './result.ts'
import type { ListPayload } from './start.ts'

type Deps = Pick<Base, 'store' | 'now'> & { verifier: Verifier }

type VerificationProgress = ListRange & { after: number; result: ListResult }

/** Assesses a domain, once for all of its addresses. */
type AssessOnce = (domain: string) => Promise<DomainAssessment>

/** Domains whose assessment is cached while the job runs. */
const MAX_CACHED = 50_000
const SAVE_EVERY_MS = 2_000

export async function runListVerification(deps: Deps, job: RunningJob): Promise<ListResult> {
  const payload = job.payload as ListPayload
  let progress = (await loadProgress<VerificationProgress>(deps.store.read, job.id)) ?? {
    ...(await measureAddressList(deps, payload)),
    after: 0,
    result: EMPTY_RESULT,
  }
  let savedAt = deps.now()
  const assessOnce = createDomainAssessor(deps, job.signal)
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
  job.signal.throwIfAborted()
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
  await store.write((tx) => saveProgress(tx, job, { state: progress, percent, at: now() }))
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
  const read = readAddress(text)
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
