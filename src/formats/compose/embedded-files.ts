/**
 * Makes a file inline if the HTML refers to its id (`cid:`, RFC 2392), whatever disposition its
 * sender gave. As an attachment, the file would leave a broken picture in the text and appear again
 * below it.
 */
import type { Disposition } from './mime-part.ts'

type EmbeddableFile = { contentId: string | null; disposition: Disposition }

/** The characters that end a URL in an attribute or in a style sheet. */
const END = /^(?:["'\s)<>&#?\\]|$)/

/** `html`: returns the recipient's HTML; called only if some file may be embedded. */
export function placeInText<File extends EmbeddableFile>(
  files: readonly File[],
  html: () => string,
): readonly File[] {
  if (!files.some(isCandidate)) return files
  const document = html()
  return files.map((file): File => {
    const isShown = isCandidate(file) && refersTo(document, file.contentId ?? '')
    return isShown ? { ...file, disposition: 'inline' } : file
  })
}

/** Whether the HTML has a URL of this content id, with or without percent-encoding. */
export function refersTo(html: string, contentId: string): boolean {
  return [...new Set([contentId, encodeURIComponent(contentId.toWellFormed())])].some((id) => {
    for (let at = html.indexOf(id); at !== -1; at = html.indexOf(id, at + 1)) {
      const isUrl = html.slice(Math.max(at - 4, 0), at).toLowerCase() === 'cid:'
      if (isUrl && END.test(html.slice(at + id.length, at + id.length + 1))) return true
    }
    return false
  })
}

function isCandidate({ contentId, disposition }: EmbeddableFile): boolean {
  return contentId !== null && contentId !== '' && disposition === 'attachment'
}
