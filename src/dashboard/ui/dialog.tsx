/** A modal dialog. The browser keeps the focus inside; its opener gets it back at the end. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../text/text.ts'
import { Icon } from './icon.tsx'

type DialogProps = {
  title: string
  /** Called at Escape, at a click beside the dialog and at its closing button. */
  onClose(): void
  children: ComponentChildren
  class?: string
  /** The dialog stays until its content closes it: Escape and a click beside it do nothing. */
  isFirm?: boolean
}

export function Dialog({
  title,
  onClose,
  children,
  class: className = '',
  isFirm = false,
}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  // A passive effect would run after the next frame: a key that comes before it would go nowhere.
  useLayoutEffect(() => {
    const dialog = element.current
    const opener = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      // A browser gives the focus back by itself, unless it took the dialog as closed before.
      if (document.activeElement !== document.body || !(opener instanceof HTMLElement)) return
      opener.focus({ preventScroll: true })
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog by its cancel event.
    <dialog
      ref={element}
      class={`dialog ${className}`}
      aria-label={title}
      // Without it, browsers close the dialog at the second Escape, whatever the event's listener does.
      closedby={isFirm ? 'none' : undefined}
      onCancel={(event) => {
        event.preventDefault()
        if (!isFirm) onClose()
      }}
      onClick={(event) => {
        if (!isFirm && event.target === element.current && isOutside(event)) onClose()
      }}
    >
      <header class="row between">
        <h2>{title}</h2>
        {!isFirm && (
          <button
            class="btn quiet icon"
            type="button"
            aria-label={t('dialog.close')}
            onClick={onClose}
          >
            <Icon name="cross" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}

/** Whether the pointer is beside the dialog: its margin inside belongs to the same element as its backdrop. */
function isOutside({ clientX, clientY, target }: MouseEvent): boolean {
  const { left, right, top, bottom } = (target as Element).getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}
