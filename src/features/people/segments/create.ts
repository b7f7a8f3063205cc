import { AppError } from '../../../base/errors.ts'
import type { SegmentRecord } from '../../../records/segment.ts'
import { eq } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { SegmentType } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { FILTER_RULES } from '../../ground/conditions/changed-filters.ts'
import { compileCondition } from '../../ground/conditions/compile.ts'
import type { Condition } from '../../ground/conditions/condition.ts'
import { countContacts } from '../contacts/list/count.ts'
import { SEEN_ALL } from './caused-changes.ts'
import { requireReferences } from './require-references.ts'
import { checkTexts, readCondition } from './validate.ts'
import { toSegmentRecord } from './view.ts'

type NewSegment = {
  projectId: string
  name: string
  description?: string | null | undefined
  /** DYNAMIC if absent. */
  type?: SegmentType | undefined
  /** Required for a DYNAMIC segment, refused for a STATIC one. */
  condition?: unknown
  /** The API's `trackMembership`. */
  hasMembershipEvents?: boolean | undefined
}

/** The list has no pages, and every segment is counted every five minutes. */
const MAX_SEGMENTS_PER_PROJECT = 1_000

/**
 * Creates a segment and counts its contacts. Membership events begin with the first computation,
 * which runs some minutes later or on request.
 * @throws AppError VALIDATION_ERROR; BAD_REQUEST for a condition that refers to an unknown segment,
 *   or when the project has the maximum number of segments
 */
export async function createSegment(
  deps: Pick<Base, 'store' | 'now'>,
  input: NewSegment,
): Promise<SegmentRecord> {
  const {
    projectId,
    name,
    description = null,
    type = 'DYNAMIC',
    hasMembershipEvents = false,
  } = input
  checkTexts({ name, description })
  const condition = readCondition(type, input.condition)
  const at = deps.now()
  const memberCount = condition === null ? 0 : await countMatching(deps, { projectId, condition })
  const row = await deps.store.write(async (tx) => {
    await requireFreeSegment(tx, projectId)
    if (condition !== null) await requireReferences(tx, { projectId, condition })
    const definition = { id: newId(), projectId, name, description, type, condition }
    const counted = { memberCount, countedAt: at, filterRules: FILTER_RULES }
    const state = { hasMembershipEvents, ...counted, createdAt: at, updatedAt: at }
    return tx
      .insert(segments)
      .values({ ...definition, ...state, ...SEEN_ALL })
      .returning()
      .get()
  })
  return toSegmentRecord(row)
}

/** Counts the contacts that match. `ofSegmentId`: the segment that the condition belongs to. */
export async function countMatching(
  deps: Pick<Base, 'store' | 'now'>,
  input: { projectId: string; condition: Condition; ofSegmentId?: string },
): Promise<number> {
  const condition = await compileCondition(deps, input)
  return countContacts(deps, { projectId: input.projectId, condition })
}

async function requireFreeSegment(tx: Tx, projectId: string): Promise<void> {
  const count = await tx.$count(segments, eq(segments.projectId, projectId))
  if (count < MAX_SEGMENTS_PER_PROJECT) return
  throw new AppError('BAD_REQUEST', `A project may have ${MAX_SEGMENTS_PER_PROJECT} segments.`)
}
