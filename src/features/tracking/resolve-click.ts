/**
 * Where a click's token leads: to the address in the token itself, or to the link of that number in
 * the email's content, which outlives the body (`contents.links`). A token leads nowhere unless we
 * signed it, and nowhere but to http and https.
 */
import { LRUCache } from 'lru-cache'
import { linkNumber, listLinks, MAX_LINK_SCAN_LENGTH } from '../../mail/html/links.ts'
import { readClickToken } from '../../mail/signed-tokens.ts'
import { eq, sql } from '../../store/drizzle.ts'
import { contents, emails } from '../../store/schema/messages.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

export type Click = { emailId: string; link: string }

/** Undefined for a token that is not ours, and for a link that is not there. */
export type ResolveClick = (token: string) => Promise<Click | undefined>

type Deps = Pick<Base, 'store' | 'keyring'>
type Links = ReadonlyMap<number, string>

const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024
/** What a list counts at most, so that the largest is remembered too. */
const MAX_COUNTED_BYTES = MAX_REMEMBERED_BYTES / 4

const findContent = statement((db) =>
  db
    .select({ id: emails.contentId })
    .from(emails)
    .where(eq(emails.id, parameter('emailId'))),
)

const findTexts = statement((db) =>
  db
    .select({
      body: sql<
        string | null
      >`substr(${contents.body}, 1, ${sql.raw(String(MAX_LINK_SCAN_LENGTH))})`,
      links: contents.links,
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)

/** Remembers the links of contents that were asked for lately. */
export function createClickResolver({ store, keyring }: Deps): ResolveClick {
  const remembered = new LRUCache<string, Links>({
    maxSize: MAX_REMEMBERED_BYTES,
    sizeCalculation: countBytes,
  })

  async function findLink(emailId: string, number: number): Promise<string | undefined> {
    const content = await store.read.find(findContent, { emailId })
    if (content === undefined) return undefined
    const known = remembered.get(content.id)
    if (known !== undefined) return known.get(number)
    const links = await readLinks({ store }, content.id)
    remembered.set(content.id, links)
    return links.get(number)
  }

  return async (token) => {
    const click = readClickToken(keyring.keys('click'), token)
    if (click === undefined) return undefined
    const { emailId } = click
    const link = typeof click.link === 'string' ? click.link : await findLink(emailId, click.link)
    return link !== undefined && isWebAddress(link) ? { emailId, link } : undefined
  }
}

async function readLinks({ store }: Pick<Base, 'store'>, contentId: string): Promise<Links> {
  const texts = await store.read.find(findTexts, { id: contentId })
  const links = texts?.links ?? listLinks(texts?.body ?? '')
  return new Map(links.map((link) => [linkNumber(link), link]))
}

function isWebAddress(link: string): boolean {
  return /^https?:\/\//i.test(link) && URL.canParse(link)
}

function countBytes(links: Links): number {
  let bytes = 500
  for (const link of links.values()) bytes += 100 + 2 * link.length
  return Math.min(bytes, MAX_COUNTED_BYTES)
}
