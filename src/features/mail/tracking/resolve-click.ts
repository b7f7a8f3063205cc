/**
 * Resolves a click's token to its link: the URL in the token itself, or the link of that number in
 * the email's content, which remains after the body is deleted (`contents.links`). Only tokens that
 * this server signed, and only http and https URLs, resolve.
 */
import { createLru } from '../../../base/lru.ts'
import { linkNumber, listLinks, MAX_LINK_SCAN_LENGTH } from '../../../formats/html/links.ts'
import { readClickToken } from '../../../formats/signed-tokens.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { contents, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

type Click = { emailId: string; link: string }

/**
 * Returns undefined for a token that this server did not sign, and for a link that does not exist.
 */
type ResolveClick = (token: string) => Promise<Click | undefined>

type Deps = Pick<Base, 'store' | 'keyring'>
type Links = ReadonlyMap<number, string>

const MAX_CACHE_BYTES = 16 * 1024 * 1024
/**
 * The most bytes that one list of links counts with in the cache, so that even the largest list is
 * cached.
 */
const MAX_COUNTED_BYTES = MAX_CACHE_BYTES / 4

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

/** Caches the links of contents that were used lately. */
export function createClickResolver({ store, keyring }: Deps): ResolveClick {
  const cache = createLru<Links>(MAX_CACHE_BYTES, { sizeOf: countBytes })

  async function findLink(emailId: string, number: number): Promise<string | undefined> {
    const content = await store.read.find(findContent, { emailId })
    if (content === undefined) return undefined
    const cached = cache.get(content.id)
    if (cached !== undefined) return cached.get(number)
    const links = await readLinks({ store }, content.id)
    cache.set(content.id, links)
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
