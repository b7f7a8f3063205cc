/** The events of a tracked segment are named by a slug of its name (contract 7.2). */
import type { Segment } from '../../store/schema/segments.ts'

/**
 * Of the name only ASCII letters, digits, `_` and `-` stay, and spaces as hyphens. Where nothing
 * stays, as of a name in another script, it is the segment's id: two such segments differ.
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

/** A renamed segment's events have the new name from then on; names may share a slug. */
export function segmentEvent(
  segment: Pick<Segment, 'id' | 'name'>,
  change: 'entry' | 'exit',
): string {
  return `segment.${segmentSlug(segment)}.${change}`
}
