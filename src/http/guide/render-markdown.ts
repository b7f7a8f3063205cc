/**
 * Turns a page of the guide from Markdown into HTML. Headings get the ids that GitHub gives them, so
 * that the same anchors work in the repository and here. HTML in the Markdown is shown as text.
 */
import { escapeHtml } from '../../mail/template/characters.ts'

type RenderedPage = { title: string; html: string }

/** `resolveLink` turns a link of the page into an address that this server has. */
export async function renderMarkdown(
  markdown: string,
  resolveLink: (href: string) => string,
): Promise<RenderedPage> {
  const { Marked } = await import('marked')
  const slugs = createSlugs()
  let title = ''
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === 'link') token.href = resolveLink(token.href)
    },
    renderer: {
      heading({ tokens, depth, text }) {
        if (depth === 1 && title === '') title = text
        return `<h${depth} id="${slugs(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      html: ({ text }) => escapeHtml(text),
    },
  })
  const html = await marked.parse(markdown)
  return { title, html }
}

/** Returns the id of each heading of a page; repeated headings get a number. */
export function createSlugs(): (heading: string) => string {
  const counts = new Map<string, number>()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}
