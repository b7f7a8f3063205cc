/**
 * The names of membership events, `segment.<slug>.entry` and `.exit`, where the slug is made from
 * the segment's name. A name is silent, because such an event never occurs, if no segment of the
 * project has the slug, or if the segment with this slug does not track its membership. Only the
 * service records these events.
 */
import { type Effort, newEffort } from '../../../config/layers/closest.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { nearestName, shortenForError } from '../../ground/conditions/field-errors.ts'

/** Why an event never occurs (`why`), and what to do (`fix`): each a sentence for people. */
export type SilentEvent = { why: string; fix: string; suggestion: string | null }

/**
 * A webhook may ask for all events of a segment with `.*`. Clients may track
 * `segment.checkout.started`, so a pattern is judged only if there is such a segment, or one of a
 * similar name.
 */
const MEMBERSHIP_EVENT = /^segment\.(?<slug>.+)\.(?<change>entry|exit|\*)$/s

/**
 * Keeps ASCII letters, digits, `_` and `-` of the name and turns spaces into hyphens. When nothing
 * remains, as for a name in another script, the slug is the segment's id.
 */
export function segmentSlug({ id, name }: Pick<Segment, 'id' | 'name'>): string {
  const slug = name
    .toLowerCase()
    .trim()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/[\s-]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return slug === '' ? id : slug
}

/** A renamed segment has new event names from then on. Two names may have the same slug. */
export function segmentEvent(
  segment: Pick<Segment, 'id' | 'name'>,
  change: 'entry' | 'exit',
): string {
  return `segment.${segmentSlug(segment)}.${change}`
}

/**
 * Returns the silent events among `names`, by name. `effort` limits the search for suggestions; a
 * caller in a transaction allows none.
 */
export async function findSilentEvents(
  queries: Pick<Tx, 'select'>,
  projectId: string,
  names: readonly string[],
  effort: Effort = newEffort(),
): Promise<Map<string, SilentEvent>> {
  const asked = names.flatMap((name) => {
    const { slug, change } = MEMBERSHIP_EVENT.exec(name)?.groups ?? {}
    return slug === undefined || change === undefined ? [] : [{ name, slug, change }]
  })
  if (asked.length === 0) return new Map()
  const { id, name, hasMembershipEvents } = segments
  const rows = await queries
    .select({ id, name, hasMembershipEvents })
    .from(segments)
    .where(eq(segments.projectId, projectId))
  const isTracked = new Map<string, boolean>()
  for (const row of rows) {
    const slug = segmentSlug(row)
    isTracked.set(slug, row.hasMembershipEvents || isTracked.get(slug) === true)
  }
  const slugs = [...isTracked.keys()]
  const silent = new Map<string, SilentEvent>()
  for (const { name, slug, change } of asked) {
    const tracks = isTracked.get(slug)
    if (tracks === true) continue
    if (tracks === false) silent.set(name, untracked(slug))
    else if (!silent.has(name)) {
      const meant = nearestName(slug, slugs, effort)
      if (meant !== undefined || change !== '*') silent.set(name, unknown(slug, change, meant))
    }
  }
  return silent
}

function untracked(slug: string): SilentEvent {
  return {
    why: `The segment "${shortenForError(slug)}" does not track its membership, so it has no events.`,
    fix: 'Set trackMembership of the segment, which must be DYNAMIC.',
    suggestion: null,
  }
}

function unknown(slug: string, change: string, meant: string | undefined): SilentEvent {
  const suggestion = meant === undefined ? null : `segment.${meant}.${change}`
  const hint = suggestion === null ? '' : ` Did you mean ${suggestion}?`
  return {
    why: `There is no segment whose events are named by "${shortenForError(slug)}".${hint}`,
    fix: 'Correct the name, or create the segment: the name of the events follows from its name.',
    suggestion,
  }
}
