/** The head of a column, whose edge can be dragged to make it wider. */
type HeaderProps = {
  column: { key: string; label: string; class?: string; isSorted?: boolean }
  width: number | undefined
  /** `isPassing`: the edge is still dragged. */
  onWidth: ((key: string, width: number, isPassing: boolean) => void) | undefined
}

export function HeaderCell({ column, width, onWidth }: HeaderProps) {
  const { key, label, class: className = '', isSorted } = column
  /** Follows the pointer from the edge until it is released. */
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const handle = event.currentTarget
    const begin = (handle.parentElement?.offsetWidth ?? 0) - event.clientX
    event.preventDefault()
    handle.setPointerCapture(event.pointerId)
    let dragged: number | undefined
    handle.onpointermove = ({ clientX }) => {
      dragged = begin + clientX
      onWidth?.(key, dragged, true)
    }
    handle.onlostpointercapture = () => {
      handle.onpointermove = null
      if (dragged !== undefined) onWidth?.(key, dragged, false)
    }
  }
  return (
    <th
      scope="col"
      class={`w-${key} ${className}`}
      style={{ width: width === undefined ? '' : `${width}px` }}
      aria-sort={isSorted ? 'descending' : undefined}
    >
      {label}
      {isSorted && <span aria-hidden="true"> ↓</span>}
      {onWidth !== undefined && <span class="edge" aria-hidden="true" onPointerDown={drag} />}
    </th>
  )
}
