/**
 * The cursors after a page of templates that older versions made: `<sort>.<dir>.<id>.<sort key>`. New ones are
 * sealed (`ground/sorted-cursor.ts`).
 */

export type TemplateOrder = { sort: 'name' | 'createdAt' | 'updatedAt'; dir: 'asc' | 'desc' }

/** Epoch ms, or the name in lower case. */
export type TemplateSortKey = string | number

type CursorPosition = { id: string; sortKey: TemplateSortKey }

const CURSOR_PATTERN = /^(name|createdAt|updatedAt)\.(asc|desc)\.([0-9a-f-]{36})\.([\w-]+)$/

/** Returns undefined for an unknown cursor and for a cursor of a list in another order. */
export function parseOlderCursor(order: TemplateOrder, cursor: string): CursorPosition | undefined {
  const [, sort, dir, id, key] = CURSOR_PATTERN.exec(cursor) ?? []
  if (sort !== order.sort || dir !== order.dir) return undefined
  if (id === undefined || key === undefined) return undefined
  const text = Buffer.from(key, 'base64url').toString()
  if (sort === 'name') return { id, sortKey: text }
  return /^\d{1,15}$/.test(text) ? { id, sortKey: Number(text) } : undefined
}
