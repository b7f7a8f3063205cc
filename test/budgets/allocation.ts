/** The functions that allocate most, of a sampled profile of the heap. */
export type Profile = { head: Node }
type Node = {
  callFrame: { functionName: string; url: string; lineNumber: number }
  selfSize: number
  children: Node[]
}

const SHOWN = 25

export function allocatedBy({ head }: Profile): string[] {
  const sizes = new Map<string, number>()
  const visit = ({ callFrame, selfSize, children }: Node): void => {
    const { functionName, url, lineNumber } = callFrame
    const place = `${functionName || '(anonymous)'} ${url.replace(/^.*\/(?=src|node_modules|test)/, '')}:${lineNumber + 1}`
    sizes.set(place, (sizes.get(place) ?? 0) + selfSize)
    children.forEach(visit)
  }
  visit(head)
  const most = [...sizes].sort(([, one], [, other]) => other - one).slice(0, SHOWN)
  return most.map(([place, bytes]) => `${Math.round(bytes / 1024)} KB ${place}`)
}
