/** The counts of a bulk job, added up batch by batch. */
import type { JobCount } from '../../../../work/jobs/job-row.ts'
import type { ShownJob } from '../../../ground/manifest/shown-job.ts'

export type BulkOperation = 'subscribe' | 'unsubscribe' | 'delete'

type BulkFailure = { contactId: string; email: string | null; error: string }

export type BulkResult = {
  operation: BulkOperation
  totalRequested: number
  /** Contacts that changed. */
  successCount: number
  /** Contacts that already had the requested state. */
  unchangedCount: number
  /** The part of `unchangedCount` that stays unsubscribed because the person left. */
  keptUnsubscribedCount: number
  failureCount: number
  /** The first failures, at most `MAX_BULK_ERRORS`. */
  errors: BulkFailure[]
}

type BulkTally = Omit<BulkResult, 'operation' | 'totalRequested'>

/**
 * `after`: the number of the last processed contact; for a list of ids, the count of processed ids.
 */
export type BulkProgress = {
  startedAt: number
  after: number
  last: number
  total: number
  tally: BulkTally
}

/** The contacts of a batch: how many changed, how many stay as they are because the person left. */
export type AppliedBatch = { changed: number; kept: number }

type CountedBatch = AppliedBatch & {
  unchanged: number
  missing: readonly { id: string; address: string | null }[]
}

const MAX_BULK_ERRORS = 1_000

const NOTHING_DONE: BulkTally = {
  ...{ successCount: 0, unchangedCount: 0, keptUnsubscribedCount: 0, failureCount: 0 },
  errors: [],
}

const LABELS: Readonly<Record<string, string>> = {
  'bulk-subscribe': 'Subscribe contacts',
  'bulk-unsubscribe': 'Unsubscribe contacts',
  'bulk-delete': 'Delete contacts',
}

export const SHOWN_BULK: ShownJob = {
  hasFacts: false,
  labelOf: (_, prefix) => LABELS[prefix] ?? 'Change contacts',
  pathOf: (id) => `/contacts/bulk/${id}`,
  partialResult: (state, payload) => {
    const { operation } = payload as { operation: BulkOperation }
    return toBulkResult(operation, (state as BulkProgress | undefined)?.tally)
  },
}

/** `tally`: absent if nothing is done yet. */
export function toBulkResult(operation: BulkOperation, tally = NOTHING_DONE): BulkResult {
  const { keptUnsubscribedCount = 0 } = tally
  return { operation, totalRequested: processedOf(tally), ...tally, keptUnsubscribedCount }
}

export function startOfBulk(range: Omit<BulkProgress, 'tally' | 'after'>): BulkProgress {
  return { ...range, after: 0, tally: NOTHING_DONE }
}

/** Adds the counts of a batch. */
export function addBatch(tally: BulkTally, batch: CountedBatch): BulkTally {
  const errors = batch.missing.map(({ id, address }) => ({
    contactId: id,
    email: address,
    error: 'Contact not found',
  }))
  return {
    successCount: tally.successCount + batch.changed,
    unchangedCount: tally.unchangedCount + batch.unchanged,
    keptUnsubscribedCount: (tally.keptUnsubscribedCount ?? 0) + batch.kept,
    failureCount: tally.failureCount + batch.missing.length,
    errors: [...tally.errors, ...errors].slice(0, MAX_BULK_ERRORS),
  }
}

/** At most 99: 100 percent means that the job has its result. */
export function percentOfBulk({ total, tally }: BulkProgress): number {
  return total === 0 ? 99 : Math.min(99, (100 * processedOf(tally)) / total)
}

export function countOfBulk({ total, tally }: BulkProgress): JobCount {
  return { done: processedOf(tally), total }
}

function processedOf({ successCount, unchangedCount, failureCount }: BulkTally): number {
  return successCount + unchangedCount + failureCount
}
