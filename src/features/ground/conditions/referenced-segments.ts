/**
 * Loads the segments that a condition refers to, directly and through other segments. A reference
 * that leads back to a segment is a loop, even through a segment with member rows: each change of
 * one segment would require a change of the other.
 */
import { AppError } from '../../../base/errors.ts'
import { and, eq, inArray } from '../../../store/drizzle.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { type Condition, listReferences, readStoredCondition } from './condition.ts'
import { shortenForError } from './field-errors.ts'

export type ReferencedSegment = {
  id: string
  name: string
  /** Whether rows of `segment_members` define who is in the segment. */
  hasMembers: boolean
  /** Undefined for a STATIC segment. */
  condition: Condition | undefined
  /**
   * The version of the filter rules by which the members were last computed (`changed-filters.ts`).
   */
  filterRules: number
}

export type ReferencedSegments = ReadonlyMap<string, ReferencedSegment>

type SegmentQuery = { projectId: string; condition: Condition; ofSegmentId?: string | undefined }

const MAX_REFERENCED_SEGMENTS = 1_000

/**
 * Returns the segments by id. A missing or damaged segment is an error for every segment that refers to it,
 * even for one with member rows: nothing keeps these rows up to date any more.
 * @throws AppError BAD_REQUEST for an unknown segment, a damaged condition, a loop, or more than 1,000
 *   segments
 */
export async function loadReferencedSegments(
  { store }: Pick<Base, 'store'>,
  { projectId, condition, ofSegmentId }: SegmentQuery,
): Promise<ReferencedSegments> {
  const roots = listReferences(condition).segments
  const known = new Map<string, ReferencedSegment>()
  const seen = new Set(roots)
  let wanted = roots
  while (wanted.length > 0) {
    if (seen.size > MAX_REFERENCED_SEGMENTS) throw tooMany()
    const found = await findSegments({ store }, { projectId, ids: wanted })
    for (const segment of found) known.set(segment.id, segment)
    for (const id of wanted) if (id !== ofSegmentId) loadReferencedSegment(known, id)
    wanted = [...new Set(found.flatMap(referredBy))].filter((id) => !seen.has(id))
    for (const id of wanted) seen.add(id)
  }
  refuseLoops(known, { roots, ofSegmentId })
  return known
}

/** @throws AppError BAD_REQUEST when the project has no such segment */
export function loadReferencedSegment(known: ReferencedSegments, id: string): ReferencedSegment {
  const segment = known.get(id)
  if (segment !== undefined) return segment
  throw new AppError('BAD_REQUEST', `There is no segment "${shortenForError(id)}" in this project.`)
}

async function findSegments(
  { store }: Pick<Base, 'store'>,
  { projectId, ids }: { projectId: string; ids: string[] },
): Promise<ReferencedSegment[]> {
  const { id, name, type, hasMembershipEvents, condition, filterRules } = segments
  const rows = await store.read
    .select({ id, name, type, hasMembershipEvents, condition, filterRules })
    .from(segments)
    .where(and(eq(segments.projectId, projectId), inArray(id, ids)))
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    filterRules: row.filterRules,
    hasMembers: row.type === 'STATIC' || row.hasMembershipEvents,
    condition:
      row.type === 'DYNAMIC'
        ? readStoredCondition(row.condition, `The segment "${shortenForError(row.name)}"`)
        : undefined,
  }))
}

function referredBy({ condition }: ReferencedSegment): string[] {
  return condition === undefined ? [] : listReferences(condition).segments
}

/** Searches depth first and visits each segment once. `above`: the segments on the current path. */
function refuseLoops(
  known: ReferencedSegments,
  { roots, ofSegmentId }: { roots: string[]; ofSegmentId: string | undefined },
): void {
  const above = new Set(ofSegmentId === undefined ? [] : [ofSegmentId])
  const done = new Set<string>()
  const visit = (id: string) => {
    if (above.has(id)) throw loop(known.get(id)?.name ?? id)
    const segment = known.get(id)
    if (segment === undefined || done.has(id)) return
    above.add(id)
    for (const next of referredBy(segment)) visit(next)
    above.delete(id)
    done.add(id)
  }
  for (const root of roots) visit(root)
}

function loop(name: string): AppError {
  const text = `The segments refer to each other in a loop, by way of "${shortenForError(name)}".`
  return new AppError('BAD_REQUEST', text)
}

function tooMany(): AppError {
  const text = `The condition leads to more than ${MAX_REFERENCED_SEGMENTS} segments.`
  return new AppError('BAD_REQUEST', text)
}
