/**
 * A mail in a frame of its own: nothing in it runs, loads or leads away. The frame takes the mail by a message and
 * tells its height; it never sees this page.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { base } from '../api/client.ts'

type MailFrameProps = {
  html: string
  title: string
  /** Loads images from other servers, which then know that somebody reads the mail. */
  hasImages?: boolean
  isNarrow?: boolean
  isDark?: boolean
}

const LEAST_PX = 160
/** A mail may tell any height. */
const MOST_PX = 12_000

export function MailFrame(props: MailFrameProps) {
  // A frame shows one mail: another one, or other rules, are another frame.
  return <Frame key={`${props.hasImages} ${props.isDark} ${props.html}`} {...props} />
}

function Frame({ html, title, hasImages, isNarrow, isDark }: MailFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(LEAST_PX)
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent<{ ready?: unknown; height?: unknown }>) => {
      const { contentWindow = null } = frame.current ?? {}
      if (contentWindow === null || source !== contentWindow) return
      // The origin of the frame is opaque, so no other target can be named; the window is the frame's own.
      if (data?.ready === true) contentWindow.postMessage({ html, isDark }, '*')
      const { height: told } = data ?? {}
      if (typeof told === 'number' && Number.isFinite(told)) {
        setHeight(Math.max(LEAST_PX, Math.min(MOST_PX, Math.ceil(told))))
      }
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  }, [html])
  return (
    <div class={`mail-frame ${isNarrow ? 'narrow' : ''} ${isDark ? 'on-dark' : ''}`}>
      <iframe
        ref={frame}
        src={`${base}/app/${hasImages ? 'frame-images' : 'frame'}`}
        sandbox="allow-scripts"
        title={title}
        height={height}
      />
    </div>
  )
}
