/** `GET /search`: finds records of any kind in a project. */
import { MAX_NAMES_SEARCHED } from '../../features/insight/search/by-name.ts'
import { searchProject } from '../../features/insight/search/search.ts'
import { searchQuery, searchResultExample, searchResults } from '../../records/search.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

export const search = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Search',
    tagText: 'One search over all kinds of records.',
    summary: 'Find records of any kind by id, address or name',
    description:
      'At most 20, the best matches first: an exact id (of any record, an email by its Message-ID, a ' +
      'request), a whole address or name, its beginning, a part of it. Addresses are found by their ' +
      'beginning: contacts, and the newest emails of the first of them. Names are found by any part, in ' +
      `any letter case: of the newest ${MAX_NAMES_SEARCHED} campaigns, templates, segments and workflows, ` +
      'and of domains. No character is a wildcard. A request whose client chose the id is found among the ' +
      'newest 5,000.',
    query: searchQuery,
    responses: { 200: { description: 'The records', schema: searchResults } },
    example: () => ({ query: { q: 'ann@' }, status: 200, response: [searchResultExample] }),
    handle: async ({ project, query }) =>
      json(200, await searchProject(core, { projectId: project.id, text: query.q })),
  })
