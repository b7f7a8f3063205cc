/** The search over all kinds of records of a project: its query and what it finds. */
import { z } from 'zod'
import { MAX_SEARCH_LENGTH, MAX_SEARCH_RESULTS } from './limits.ts'
import { SEARCH_KINDS } from './words.ts'

const searchResult = z
  .object({
    kind: z.enum(SEARCH_KINDS),
    id: z.string(),
    title: z.string().meta({
      description:
        'The address of a contact, the subject of an email, the name of a record, the method and path of a ' +
        'request, the name of the workflow of an execution',
    }),
    detail: z
      .string()
      .nullable()
      .meta({
        description:
          'The recipient of an email, `subscribed` or `unsubscribed` for a contact, the status of a campaign or ' +
          'domain, the type of a template or segment, `enabled` or `disabled` for a workflow, the status and ' +
          'error code of a request, the address of the contact of an execution',
      }),
    workflowId: z.string().nullable().meta({
      description: 'The workflow of an execution, which its path needs; null for all other kinds',
    }),
  })
  .meta({ id: 'SearchResult' })

export type SearchResult = z.output<typeof searchResult>

export const searchResults = z.array(searchResult).max(MAX_SEARCH_RESULTS)

export const searchQuery = z.object({
  q: z.string().trim().min(1, 'Must not be blank').max(MAX_SEARCH_LENGTH).meta({
    description: 'An id, a Message-ID, the beginning of an address, or a part of a name',
  }),
})

export const searchResultExample: SearchResult = {
  kind: 'contact',
  id: '0199a7c0-0000-7000-8000-000000000003',
  title: 'ann@example.org',
  detail: 'subscribed',
  workflowId: null,
}
