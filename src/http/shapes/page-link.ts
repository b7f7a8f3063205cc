/** What stands in the links of the hosted pages and in the paths of the public contact calls. */
import { z } from 'zod'
import type { Core } from '../../features/core.ts'
import { type PageToken, readPageToken } from '../../mail/signed-tokens.ts'
import { id } from './fields.ts'

/** `?e=<email id>`: who calls says which email led there. What is no id is ignored. */
export const attribution = z.object({
  e: id.optional().catch(undefined).meta({
    type: 'string',
    format: 'uuid',
    description: 'The email that led there; ignored when it is not one of the contact',
  }),
})

/** Undefined for whatever we did not sign for a page. */
export function readPageLink(
  { keyring }: Pick<Core, 'keyring'>,
  token: string | undefined,
): PageToken | undefined {
  return token === undefined ? undefined : readPageToken(keyring.keys('page'), token)
}
