/** What of a project's definitions refers to events by their name. Whatever else comes to do so looks here. */
import { and, asc, eq, isNotNull } from '../../store/drizzle.ts'
import { segments } from '../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { type Condition, listReferences } from '../conditions/condition.ts'

export type Reference = { id: string; name: string }

export type EventReferences = {
  /** Whose condition has a filter of the event, oldest first. */
  segments: Reference[]
  /** Whose trigger it is, or which wait for it: none before there are workflows. */
  workflows: Reference[]
}

export type EventTarget = { projectId: string; name: string }

export async function findReferences(
  deps: Pick<Base, 'store'>,
  target: EventTarget,
): Promise<EventReferences> {
  return { segments: await findSegments(deps, target), workflows: [] }
}

export function isReferredTo({ segments, workflows }: EventReferences): boolean {
  return segments.length > 0 || workflows.length > 0
}

async function findSegments(
  { store }: Pick<Base, 'store'>,
  { projectId, name }: EventTarget,
): Promise<Reference[]> {
  const rows = await store.scan
    .select({ id: segments.id, name: segments.name, condition: segments.condition })
    .from(segments)
    .where(and(eq(segments.projectId, projectId), isNotNull(segments.condition)))
    .orderBy(asc(segments.createdAt), asc(segments.id))
  return rows
    .filter(({ condition }) => listReferences(condition as Condition).events.includes(name))
    .map(({ id, name }) => ({ id, name }))
}
