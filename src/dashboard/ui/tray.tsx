export default function Tray() {
  return null
}
