/**
 * A file whose id the HTML refers to (`cid:`, RFC 2392) is shown in the text, so it is inline, whatever
 * its sender called it: as an attachment it would be a broken picture and a file that nobody expects.
 */
import type { Disposition } from './mime-part.ts'

type EmbeddableFile = { contentId: string | null; disposition: Disposition }

/** The characters that end a URL in an attribute or in a style sheet. */
const END = /^(?:["'\s)<>&#?\\]|$)/

/** `html`: returns the HTML that the recipient gets; called only if a file may be shown. */
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
