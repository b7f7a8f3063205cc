/**
 * Warns of placeholders of other services in a text that is saved: such a placeholder is sent unchanged, or
 * prints nothing.
 */
import type { FieldWarning } from '../base/errors.ts'
import { findForeignSyntax } from '../features/mail/templates/foreign-syntax.ts'

export function warnOfForeign(
  { subject = '', body = '' }: { subject?: string | undefined; body?: string | undefined },
  warn: (warning: FieldWarning) => void,
): void {
  for (const [field, text] of Object.entries({ subject, body })) {
    for (const { message, fix } of findForeignSyntax([text])) {
      warn({ field, message: `${message} ${fix}`, suggestion: null })
    }
  }
}
