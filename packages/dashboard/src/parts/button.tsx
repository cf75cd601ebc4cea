// Buttons, and links that look like them. The label says what will happen: "Cancel run 2", never "OK".
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { useMayAct } from "../api/session.ts";
import "./button.css";

export type ButtonLook = "plain" | "primary" | "hot" | "link";

export const buttonClass = (look: ButtonLook = "plain", small = false): string =>
  `button is-${look}${small ? " is-small" : ""}`;

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className"> {
  /** `hot`, magenta, is for the one button that leads out of something that happened twice. */
  readonly look?: ButtonLook;
  readonly small?: boolean;
  readonly children: ReactNode;
}

export function Button({ look, small, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={buttonClass(look, small)} {...rest} />;
}

export const cannotAct = "Your role can look but not act";

/** A button that changes something: viewers see it disabled, with the reason. */
export function ActButton(props: ButtonProps) {
  const mayAct = useMayAct();
  if (mayAct) return <Button {...props} />;
  return (
    <span className="button-refused" title={cannotAct}>
      <Button {...props} disabled aria-describedby="cannot-act" />
    </span>
  );
}
