package sim

import "time"

// Worlds of several kinds have semaphores, and calls that lock several names together, beside plain locks.

// drawKinds gives one world in four several kinds of locks.
func (p *Plan) drawKinds() {
	d := dice(luck(p.Seed, 'k', 'd'))
	if !d.hit(0.25) || len(p.Names) > 5 || p.Rare.has(LongIdle) {
		return
	}
	semaphores := d.hit(0.7)
	p.Sets = !semaphores || d.hit(0.5)
	if semaphores {
		for range p.Names {
			p.Slots = append(p.Slots, pick(&d, 1, 2, 2, 3, 5))
		}
		for i := range p.Clients {
			if d.hit(0.15) {
				p.Clients[i].More = 1 + d.n(2)
			}
		}
	}
	names := len(p.Names)
	for i := range p.Actors {
		a := &p.Actors[i]
		if a.Foreign {
			continue
		}
		each := pick(&d, 0.1, 0.5, 1)
		for j := range a.Ops {
			switch o := &a.Ops[j]; {
			case semaphores && d.hit(each):
				o.Slot = true
				if d.hit(0.2) {
					o.Fewer = 1 + d.n(3)
				}
			case p.Sets && names > 1 && d.hit(each):
				p.drawSet(&d, o)
			}
			if o := &a.Ops[j]; o.Slot || o.Also != nil {
				o.Look, o.Left = 0, min(o.Left, time.Duration(d.n(2))*o.Left)
			}
		}
	}
}

// drawSet makes an operation lock some more names. The order of the names is random.
func (p *Plan) drawSet(d *dice, o *Op) {
	o.Do, o.Nest, o.AtOnce, o.Panic = false, false, false, false
	for i, from := 0, d.n(len(p.Names)); i < len(p.Names); i++ {
		at := (from + i) % len(p.Names)
		if at != o.Name && (o.Also == nil || d.hit(0.5)) {
			o.Also = append(o.Also, at)
		}
	}
}
