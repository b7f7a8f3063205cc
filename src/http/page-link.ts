/** The token and query in links to the hosted pages and in the paths of the public contact calls. */
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import { type PageToken, readPageToken } from '../formats/signed-tokens.ts'
import { id } from '../records/fields.ts'

/** `?e=<email id>`: the email that led to the call. An invalid id is ignored. */
export const attribution = z.object({
  e: id.optional().catch(undefined).meta({
    type: 'string',
    format: 'uuid',
    description: 'The email that led to this call; ignored unless it was sent to the contact',
  }),
})

/**
 * Reads the token of a page link. Returns undefined for a token that this server did not sign for a
 * page, and for the links of a preview, which belong to no contact.
 */
export function readPageLink(
  { keyring }: Pick<Core, 'keyring'>,
  token: string | undefined,
): PageToken | undefined {
  const page = token === undefined ? undefined : readPageToken(keyring.keys('page'), token)
  return page?.contactId === undefined && page?.emailId === undefined ? undefined : page
}
