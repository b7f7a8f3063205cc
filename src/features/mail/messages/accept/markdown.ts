/** Markdown as the body of a send request. */
import { invalidField } from '../../../../base/errors.ts'
import { TABLES_OF_TEXT } from '../../../../formats/html/document.ts'
import type { Outbound } from '../../../../outbound/outbound.ts'
import { requireClient } from '../../../../turns/owner.ts'

const TOO_COMPLEX = 'The Markdown takes too much time or memory; send HTML'

/**
 * The HTML of the text, with its Liquid. It waits for a thread as previews do: up to a limit, and as long as
 * the client waits. @throws AppError VALIDATION_ERROR, RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR;
 * REQUEST_TIMEOUT when the client has left
 */
export async function htmlOfMarkdown(
  outbound: Pick<Outbound, 'convertMarkdown'>,
  source: string,
): Promise<string> {
  const html = await outbound.convertMarkdown(source)
  requireClient()
  if (html === null) throw invalidField('body', 'too_complex', TOO_COMPLEX)
  return html.includes('<table') ? TABLES_OF_TEXT + html : html
}
