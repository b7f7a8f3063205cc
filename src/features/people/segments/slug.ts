/** Names the events of a segment by a slug of its name: `segment.<slug>.entry` and `.exit`. */
import type { Segment } from '../../../store/schema/segments.ts'

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
