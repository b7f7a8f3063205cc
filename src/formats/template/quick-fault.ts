/**
 * Finds the fault of a text that is sent, on a thread where others wait. Texts without a marker, and those
 * with plain placeholders only, are never parsed: they are most of what is sent.
 */
import { MAX_MARKERS } from './limits.ts'
import { checkTemplate, countMarkers, isPlainTemplate, type TemplateFault } from './template.ts'

/** A marker that is parsed takes about ten times as long as one that is only split off. */
const MAX_SPLIT_MARKERS = 2_000
const MAX_PARSED_MARKERS = 200
const MAX_PARSED_LENGTH = 256 * 1024

/** The first fault of syntax; undefined without one. `slow`: the text takes longer than others should wait. */
export function findQuickFault(source: string): TemplateFault | 'slow' | undefined {
  const markers = countMarkers(source)
  if (markers === 0) return undefined
  if (markers > Math.min(MAX_SPLIT_MARKERS, MAX_MARKERS)) return 'slow'
  if (isPlainTemplate(source)) return undefined
  const isSlow = markers > MAX_PARSED_MARKERS || source.length > MAX_PARSED_LENGTH
  return isSlow ? 'slow' : checkTemplate(source)
}
