/** The guide: the README and the pages of `src/docs`, as HTML. */
import { notFound } from '../../base/errors.ts'
import { createGuide, GUIDE_SCRIPT, GUIDE_STYLE } from '../guide/guide.ts'
import { createLayout, NO_SUCH_PAGE } from '../pages/layout.ts'
import type { HttpResponse } from '../response.ts'
import { openOperation } from '../route.ts'

const shared = {
  isHidden: true,
  tag: 'Service',
  responses: { 200: { description: 'A page' } },
} as const

export const showOverview = () => showGuide('Show the guide', () => null)

export const showPage = () => showGuide('Show a page of the guide', ({ page = '' }) => page)

/** `chooseName` returns the page's name, or null for the overview. */
function showGuide(
  summary: string,
  chooseName: (params: Readonly<Record<string, string>>) => string | null,
) {
  const guide = createGuide()
  const layout = createLayout({ style: GUIDE_STYLE, script: GUIDE_SCRIPT })
  /** The responses by the name of their page. All readers of a page share one copy. */
  const responses = new Map<string | null, Promise<HttpResponse>>()
  return openOperation({
    ...shared,
    summary,
    handle: async ({ params }) => {
      const name = chooseName(params)
      const page = await guide.page(name)
      if (page === undefined) throw notFound('page', name ?? '', NO_SUCH_PAGE)
      const known = responses.get(name)
      if (known !== undefined) return known
      const made = layout({ ...page, status: 200, language: 'en', projectName: null }).then(
        toShared,
      )
      responses.set(name, made)
      return made
    },
  })
}

function toShared(response: HttpResponse): HttpResponse {
  const { body } = response
  return typeof body === 'string'
    ? { ...response, body: new TextEncoder().encode(body), reservedBytes: 0 }
    : response
}
