/** Validates the size of templates, both of stored templates and of templates in a send request. */
import type { FieldError } from '../../../base/errors.ts'
import { MAX_MARKERS, MAX_TEMPLATE_LENGTH } from '../../../formats/template/limits.ts'
import { countMarkers } from '../../../formats/template/template.ts'

/** Returns the errors by field. Text without placeholders is not a template. */
export function checkTemplateSizes(
  texts: Readonly<Record<string, string | undefined>>,
): FieldError[] {
  return Object.entries(texts).flatMap(([field, text]) => {
    const message = text === undefined ? undefined : sizeFault(text)
    return message === undefined ? [] : [{ field, code: 'too_big', message }]
  })
}

/** A marker takes two characters, so that most texts are too short for a fault. */
const SHORT = Math.min(2 * MAX_MARKERS, MAX_TEMPLATE_LENGTH)

function sizeFault(text: string): string | undefined {
  if (text.length <= SHORT) return undefined
  const markers = countMarkers(text)
  if (markers > MAX_MARKERS) return `More than ${MAX_MARKERS} placeholders and tags`
  if (markers === 0 || text.length <= MAX_TEMPLATE_LENGTH) return undefined
  return `Text with placeholders may have at most ${MAX_TEMPLATE_LENGTH} characters`
}
